import type { AuditFault, AuditLog } from '../../app/account/ports.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { Foundation } from '../engine/database.ts';
import { type ChainEnds, keepChain, NO_LINK, takeChain } from './audit-chain.ts';
import { findEntryFault, proveChain } from './audit-faults.ts';
import { type FoundEntry, readPage } from './audit-pages.ts';

type Pruner = Parameters<AuditLog['prune']>[1];
type Outcome = { readonly removed: number; readonly fault?: AuditFault };

/**
 * Removes the entries of each chain that are older, from its beginning to the first that is not, and remembers the
 * last of them: the next one is signed as coming after it. A page at a time, so that other transactions don't wait long.
 */
export async function pruneAudit(
  foundation: Foundation,
  log: Pick<AuditLog, 'add' | 'listWorkspaces'>,
  before: number,
  by: Pruner,
): Promise<readonly (Outcome & { readonly workspaceId: string })[]> {
  const outcomes = [];
  for (const workspaceId of await log.listWorkspaces()) {
    const outcome = await pruneChain(foundation, log, workspaceId, Math.min(before, by.at), by);
    outcomes.push({ workspaceId, ...outcome });
  }
  if (outcomes.some(({ removed }) => removed > 0)) await foundation.engine.scrub(foundation.db);
  return outcomes;
}

async function pruneChain(
  foundation: Foundation,
  log: Pick<AuditLog, 'add'>,
  workspaceId: string,
  before: number,
  by: Pruner,
): Promise<Outcome> {
  const [oldest] = await readPage(foundation.db, workspaceId);
  if (!oldest || !isOlder(oldest, before)) return { removed: 0 };
  const actId = foundation.newId();
  const write = (outcome: AuditEntry['outcome'], code?: AuditEntry['code']) =>
    log.add({ ...by, workspaceId, action: 'audit_prune', actId, outcome, code });
  await write('started');
  let removed = 0;
  for (;;) {
    const page = await prunePage(foundation, workspaceId, before, by.at);
    removed += page.removed;
    if (page.fault) {
      await write('failed', page.fault.problem);
      return { removed, fault: page.fault };
    }
    if (page.removed === 0) break;
  }
  await write('done');
  return { removed };
}

function prunePage(
  foundation: Foundation,
  workspaceId: string,
  before: number,
  at: number,
): Promise<Outcome> {
  const { db, engine, vault } = foundation;
  return engine.transact(db, async (trx) => {
    const chain = await takeChain(trx, vault, workspaceId);
    const proven = proveChain(foundation, workspaceId, chain);
    if ('problem' in proven) return { removed: 0, fault: proven };
    const page = await readPage(trx, workspaceId);
    const firstKept = page.findIndex((entry) => !isOlder(entry, before));
    const old = firstKept < 0 ? page : page.slice(0, firstKept);
    let link = proven.pruned ?? NO_LINK;
    for (const entry of old) {
      const fault = findEntryFault(foundation, entry, link, chain.last.seq, proven.marks);
      if (fault) return { removed: 0, fault };
      link = entry;
    }
    if (old.length === 0) return { removed: 0 };
    await trx
      .deleteFrom('audit')
      .where('workspace_id', '=', workspaceId)
      .where('seq', '<=', link.seq)
      .execute();
    const { seq, signature } = link;
    const count = (proven.pruned?.count ?? 0) + old.length;
    const pruned = { seq, signature, count, at };
    const isOpen = proven.marks.some((mark) => mark.seq > seq);
    const next: ChainEnds = { last: chain.last, pruned };
    const inherited = isOpen ? chain.inherited : undefined;
    await keepChain(trx, vault, workspaceId, { ...next, inherited });
    return { removed: old.length };
  });
}

function isOlder({ cells }: FoundEntry, before: number): boolean {
  return Number(cells.at) < before;
}
