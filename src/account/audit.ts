import type { AppContext } from '../context.ts';
import type { StoredEntry } from '../core/audit-entry.ts';
import { defineUseCase } from '../core/entry.ts';
import { HOUR_MS, MINUTE_MS } from '../core/time.ts';
import type { AuditFilter, AuditHead, AuditLog, AuditVerdict, PrunedWorkspace } from '../db/audit-log.ts';
import { requireEveryWorkspace } from './keys.ts';

/** A filter for one page of entries, newest first. */
export type AuditWish = Pick<
  AuditFilter,
  'actorId' | 'server' | 'since' | 'outcome' | 'actions' | 'seq' | 'before' | 'limit'
>;

/**
 * Lists entries, denied attempts included, or reads the one with `id`. Lists a `started` entry only while its act has no
 * outcome.
 */
export const readAudit = defineUseCase({
  name: 'audit',
  needs: 'owner',
  effect: 'reads',
  run: async (input: AuditWish, { actor, app }): Promise<readonly StoredEntry[]> =>
    input.seq === undefined
      ? listVisible({ ...input, workspaceId: actor.workspaceId }, app.audit)
      : app.audit.list({ ...input, workspaceId: actor.workspaceId }),
});

/** Lists entries without the `started` ones whose act has ended, and reads on until the page is full. */
async function listVisible(filter: AuditFilter, audit: AuditLog): Promise<readonly StoredEntry[]> {
  const visible: StoredEntry[] = [];
  let { before } = filter;
  while (visible.length < filter.limit) {
    const page = await audit.list({ ...filter, before });
    const started = page.filter(({ outcome }) => outcome === 'started');
    const ended = new Set(await audit.listEnded(started));
    visible.push(...page.filter(({ outcome, actId }) => outcome !== 'started' || !ended.has(actId)));
    before = page.at(-1)?.seq;
    if (page.length < filter.limit) break;
  }
  return visible.slice(0, filter.limit);
}

/** Reads all of the workspace's entries that match, oldest first, a page at a time. */
export const exportAudit = defineUseCase({
  name: 'audit_export',
  needs: 'owner',
  effect: 'reads',
  run: async (
    input: Pick<AuditFilter, 'actorId' | 'server' | 'since' | 'until'>,
    { actor, app },
  ): Promise<AsyncIterable<StoredEntry>> => app.audit.read({ ...input, workspaceId: actor.workspaceId }),
});

/** Checks whether the workspace's audit is unaltered and, with `published`, continues from that head. */
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
 * Removes audit entries older than `before` (epoch ms) in every workspace. The rest can still be verified.
 * @throws Refusal `other_workspace` from within a workspace
 */
export const pruneAudit = defineUseCase({
  name: 'audit_prune',
  needs: 'owner',
  // Not `changes`: `AuditLog.prune` itself audits the removal, in each workspace where there was one.
  effect: 'reads',
  run: async (input: { before: number }, { actor, app }): Promise<readonly PrunedWorkspace[]> => {
    requireEveryWorkspace(actor);
    const by = { at: app.system.now(), actorId: actor.userId, surface: 'cli' } as const;
    return app.audit.prune(input.before, by);
  },
});

/** Parses a published head, `<seq>:<signature>`. Undefined for anything else. */
export function parseAuditHead(text: string): AuditHead | undefined {
  const [, seq, signature] = /^([1-9]\d{0,14}):(v1\.[\w-]{1,32}\.[\w-]+)$/.exec(text.trim()) ?? [];
  return seq === undefined || signature === undefined ? undefined : { seq: Number(seq), signature };
}

/** How often the heads are published. */
export const PUBLISH_MS = HOUR_MS;
/** Longer than `PUBLISH_MS`, so that an entry of a slow transaction is not missed. */
const GROWN_WITHIN_MS = PUBLISH_MS + 10 * MINUTE_MS;

/**
 * Creates a function that logs the newest entry of each chain that has grown: evidence that can't be removed through the database
 * alone (docs/decisions/0006-the-audit-is-a-signed-chain.md). Unused workspaces cost nothing. The next process publishes at its
 * start what a killed one didn't.
 */
export function createAuditPublisher({ audit, log }: AppContext): () => Promise<void> {
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
