import type { AppContext } from '../context.ts';
import type { StoredEntry } from '../core/audit-entry.ts';
import { defineUseCase } from '../core/entry.ts';
import { HOUR_MS, MINUTE_MS } from '../core/time.ts';
import { requireEveryWorkspace } from './keys.ts';
import type { AuditFilter, AuditHead, AuditLog, AuditVerdict, PrunedWorkspace } from './ports.ts';

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

/**
 * Removes audit entries from before a time (epoch milliseconds) in every workspace. What is left can still be verified.
 * @throws Refusal `other_workspace` from within a workspace
 */
export const pruneAudit = defineUseCase({
  name: 'audit_prune',
  needs: 'owner',
  // The audit log itself writes that entries were removed, in each workspace where there were some.
  effect: 'reads',
  run: async (input: { before: number }, { actor, app }): Promise<readonly PrunedWorkspace[]> => {
    requireEveryWorkspace(actor);
    const by = { at: app.system.now(), actorId: actor.userId, surface: 'cli' } as const;
    return app.audit.prune(input.before, by);
  },
});

/** Reads a published head, written as `<seq>:<signature>`. Undefined for anything else. */
export function parseAuditHead(text: string): AuditHead | undefined {
  const [, seq, signature] = /^([1-9]\d{0,14}):(v1\.[\w-]{1,32}\.[\w-]+)$/.exec(text.trim()) ?? [];
  return seq === undefined || signature === undefined ? undefined : { seq: Number(seq), signature };
}

/** How often the heads are published. */
export const PUBLISH_MS = HOUR_MS;
/** Longer than that, so that an entry whose transaction took its time is not missed. */
const GROWN_WITHIN_MS = PUBLISH_MS + 10 * MINUTE_MS;

/**
 * Makes what writes the newest entry of each chain to the log: evidence that can't be removed through the database alone
 * (docs/decisions/0006-the-audit-is-a-signed-chain.md). A chain that has not grown since is left out, so that workspaces that
 * no one uses cost nothing. What a killed process has not published lies within the last hour before the newest entry.
 */
export function createAuditPublisher({ audit, log }: Pick<AppContext, 'audit' | 'log'>): () => Promise<void> {
  let published: ReadonlyMap<string, string> = new Map();
  return async () => {
    const heads = await audit.listHeads(GROWN_WITHIN_MS);
    for (const { workspaceId, seq, signature } of heads) {
      if (published.get(workspaceId) === signature) continue;
      log.info('audit head', { workspaceId, seq, signature });
    }
    published = new Map(heads.map(({ workspaceId, signature }) => [workspaceId, signature]));
  };
}
