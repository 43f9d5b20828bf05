import type { StoredEntry } from '../../domain/audit-entry.ts';
import { useCasesOver } from '../authorize/use-case.ts';
import type { AccountPorts, AuditFilter, AuditHead, AuditVerdict } from './ports.ts';

const defineUseCase = useCasesOver<AccountPorts>();

/** Lists who did what, denied attempts included, newest first. */
export const readAudit = defineUseCase({
  name: 'audit',
  needs: 'owner',
  effect: 'reads',
  run: async (
    input: Pick<AuditFilter, 'actorId' | 'server' | 'since' | 'before' | 'limit'>,
    { actor, ports },
  ): Promise<readonly StoredEntry[]> => ports.audit.list({ ...input, workspaceId: actor.workspaceId }),
});

/** Reads the workspace's whole audit, oldest first, a page at a time. */
export const exportAudit = defineUseCase({
  name: 'audit_export',
  needs: 'owner',
  effect: 'reads',
  run: async (
    input: Pick<AuditFilter, 'actorId' | 'server' | 'since' | 'until'>,
    { actor, ports },
  ): Promise<AsyncIterable<StoredEntry>> => ports.audit.read({ ...input, workspaceId: actor.workspaceId }),
});

/** Checks whether the workspace's audit is as it was written, and goes on from a published head where one is given. */
export const verifyAudit = defineUseCase({
  name: 'audit_verify',
  needs: 'owner',
  effect: 'reads',
  run: async (
    { published }: { readonly published?: AuditHead | undefined },
    { actor, ports },
  ): Promise<AuditVerdict> => ports.audit.verify(actor.workspaceId, published),
});
