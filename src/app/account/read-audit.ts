import type { AuditEntry } from '../../domain/audit-entry.ts';
import { useCasesOver } from '../authorize/use-case.ts';
import type { AppPorts } from '../ports.ts';
import type { AuditFilter } from './ports.ts';

const defineUseCase = useCasesOver<AppPorts>();

/** Lists who did what, denied tries included, newest first. */
export const readAudit = defineUseCase({
  name: 'audit',
  needs: 'owner',
  effect: 'reads',
  run: async (
    input: Pick<AuditFilter, 'actorId' | 'server' | 'since' | 'before' | 'limit'>,
    context,
  ): Promise<readonly (AuditEntry & { readonly id: string })[]> =>
    context.ports.audit.list({ ...input, workspaceId: context.actor.workspaceId }),
});
