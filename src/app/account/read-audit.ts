import type { StoredEntry } from '../../domain/audit-entry.ts';
import { defineUseCase } from '../authorize/use-case.ts';
import type { AuditFilter, AuditHead, AuditLog, AuditVerdict } from './ports.ts';

/** Which entries are wanted, newest first. */
export type AuditWish = Pick<
  AuditFilter,
  'actorId' | 'server' | 'since' | 'outcome' | 'actions' | 'id' | 'before' | 'limit'
>;

/** Lists who did what, denied attempts included, or the entry with that ID. The start of an action is listed only while its outcome is unknown. */
export const readAudit = defineUseCase({
  name: 'audit',
  needs: 'owner',
  effect: 'reads',
  run: async (input: AuditWish, { actor, app }): Promise<readonly StoredEntry[]> =>
    input.id === undefined
      ? listVisible({ ...input, workspaceId: actor.workspaceId }, app.audit)
      : app.audit.list({ ...input, workspaceId: actor.workspaceId }),
});

/** Leaving out starts shortens a page: more of the log is read until it is full. */
async function listVisible(
  filter: AuditFilter,
  audit: Pick<AuditLog, 'list' | 'listEnded'>,
): Promise<readonly StoredEntry[]> {
  const visible: StoredEntry[] = [];
  let { before } = filter;
  while (visible.length < filter.limit) {
    const page = await audit.list({ ...filter, before });
    const started = page.filter(({ outcome }) => outcome === 'started');
    const ended = new Set(await audit.listEnded(started));
    visible.push(...page.filter(({ outcome, actId }) => outcome !== 'started' || !ended.has(actId)));
    before = page.at(-1)?.id;
    if (page.length < filter.limit) break;
  }
  return visible.slice(0, filter.limit);
}

/** Reads the workspace's whole audit, oldest first, a page at a time. */
export const exportAudit = defineUseCase({
  name: 'audit_export',
  needs: 'owner',
  effect: 'reads',
  run: async (
    input: Pick<AuditFilter, 'actorId' | 'server' | 'since' | 'until'>,
    { actor, app },
  ): Promise<AsyncIterable<StoredEntry>> => app.audit.read({ ...input, workspaceId: actor.workspaceId }),
});

/** Checks whether the workspace's audit is as it was written, and goes on from a published head where one is given. */
export const verifyAudit = defineUseCase({
  name: 'audit_verify',
  needs: 'owner',
  effect: 'reads',
  run: async (
    { published }: { readonly published?: AuditHead | undefined },
    { actor, app },
  ): Promise<AuditVerdict> => app.audit.verify(actor.workspaceId, published),
});
