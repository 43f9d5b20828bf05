import { defineUseCase } from '../authorize/use-case.ts';
import type { AuditEntry, AuditFilter } from '../ports.ts';

/** Lists who did what, denied tries included, newest first. */
export const readAudit = defineUseCase({
  name: 'audit',
  needs: 'owner',
  effect: 'reads',
  run: async (
    input: Pick<AuditFilter, 'actorId' | 'server' | 'since' | 'before' | 'limit'>,
    context,
  ): Promise<readonly (AuditEntry & { readonly id: string })[]> =>
    context.services.store.audit.list({ ...input, workspaceId: context.actor.workspaceId }),
});
