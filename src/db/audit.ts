import type { SelectQueryBuilder, Transaction } from 'kysely';
import type { AuditFilter, AuditLog } from '../account/ports.ts';
import type { AuditEntry, StoredEntry } from '../core/audit-entry.ts';
import { erasePasswordOfDeleted } from '../purchases/password-store.ts';
import {
  AUDITED,
  keepChain,
  listHeads,
  searchKeyOf,
  signEntry,
  takeChain,
  toEntry,
  toFacts,
} from './audit-chain.ts';
import { findHeadFault, pruneAudit, verifyAudit } from './audit-verify.ts';
import type { Foundation } from './database.ts';
import type { AuditRow, Tables } from './tables.ts';

/** How many entries are read at once where all of them are wanted. */
const PAGE = 500;

/**
 * Who did what, with what outcome. It only grows, other than by pruning, and is chained (docs/decisions/0006-the-audit-is-a-signed-chain.md): an entry that
 * was changed, removed or moved without the app is found.
 */
export function createAuditLog(foundation: Foundation): AuditLog {
  const { db, engine } = foundation;
  const log: AuditLog = {
    add: (entry) => engine.transact(db, (trx) => addAudit(trx, foundation, entry)),
    list: async ({ before, limit, ...filter }) => {
      let query = select(foundation, filter).orderBy('id', 'desc').limit(limit);
      if (before !== undefined) query = query.where('id', '<', before);
      return (await query.execute()).map(toEntry);
    },
    listEnded: (started) => listEnded(foundation, started),
    read: (filter) => readAll(foundation, filter),
    verify: async (workspaceId, published) => {
      const verdict = await verifyAudit(foundation, workspaceId);
      const fault = verdict.ok && published && (await findHeadFault(foundation, workspaceId, published));
      return fault ? { ok: false, ...fault } : verdict;
    },
    listHeads: (withinMs) => listHeads(db, withinMs),
    prune: (before, by) => pruneAudit(foundation, log, before, by),
    listWorkspaces: async () => {
      const rows = await db
        .selectFrom('audit')
        .select('workspace_id')
        .union(db.selectFrom('audit_chains').select('workspace_id'))
        .union(db.selectFrom('audit_heads').select('workspace_id'))
        .union(db.selectFrom('api_keys').select('workspace_id'))
        .union(db.selectFrom('operations').select('workspace_id').where('state', 'in', AUDITED))
        .orderBy('workspace_id')
        .execute();
      return rows.map((row) => row.workspace_id);
    },
  };
  return log;
}

/**
 * Adds an entry at the end of its workspace's chain, within a transaction. Every deletion is recorded here, whatever its
 * surface, so the root password of the deleted server is erased here, too.
 */
export async function addAudit(
  trx: Transaction<Tables>,
  { vault, newId }: Pick<Foundation, 'vault' | 'newId'>,
  entry: AuditEntry,
): Promise<void> {
  const { workspaceId } = entry;
  const chain = await takeChain(trx, vault, workspaceId, entry.operationId);
  // The id is made while the chain is held: their orders are the same.
  const seq = chain.last.seq + 1;
  const row = { ...toFacts(newId(), entry), seq, previous: chain.last.signature };
  const signature = signEntry(vault, row);
  await trx
    .insertInto('audit')
    .values({ ...row, signature })
    .execute();
  await keepChain(trx, vault, workspaceId, { ...chain, last: { seq, signature } });
  await erasePasswordOfDeleted(trx, entry);
}

type Filter = Omit<AuditFilter, 'before' | 'limit'>;

function select({ db }: Foundation, filter: Filter): SelectQueryBuilder<Tables, 'audit', AuditRow> {
  const { workspaceId, actorId, server, serverId, outcome, actions, id, since, until } = filter;
  let query = db.selectFrom('audit').selectAll().where('workspace_id', '=', workspaceId);
  if (actorId !== undefined) query = query.where('actor_id', '=', actorId);
  if (id !== undefined) query = query.where('id', '=', id);
  if (actions !== undefined) query = query.where('action', 'in', actions);
  if (outcome !== undefined) query = query.where('outcome', '=', outcome);
  if (serverId !== undefined) query = query.where('server_id', '=', serverId);
  if (since !== undefined) query = query.where('at', '>=', since);
  if (until !== undefined) query = query.where('at', '<', until);
  if (server === undefined) return query;
  return query.where((column) => {
    const byLabel = column('label_key', '=', searchKeyOf(server));
    const typedId = /^\d{1,15}$/.test(server) ? Number(server) : undefined;
    return typedId === undefined ? byLabel : column.or([byLabel, column('server_id', '=', typedId)]);
  });
}

/** An outcome is looked for this many entries after its start: an action takes minutes, and a search has to end. */
const LOOK_AHEAD = 2000;

async function listEnded({ db }: Foundation, started: readonly StoredEntry[]): Promise<readonly string[]> {
  const [first] = started;
  if (!first) return [];
  const places = started.map(({ seq }) => seq);
  const rows = await db
    .selectFrom('audit')
    .select('act_id')
    .distinct()
    .where('workspace_id', '=', first.workspaceId)
    .where('seq', '>', Math.min(...places))
    .where('seq', '<=', Math.max(...places) + LOOK_AHEAD)
    .where('outcome', '<>', 'started')
    .where(
      'act_id',
      'in',
      started.map(({ actId }) => actId),
    )
    .execute();
  return rows.map((row) => row.act_id);
}

async function* readAll(foundation: Foundation, filter: Filter): AsyncGenerator<StoredEntry> {
  let after = '';
  for (;;) {
    const rows = await select(foundation, filter).where('id', '>', after).orderBy('id').limit(PAGE).execute();
    yield* rows.map(toEntry);
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    after = last.id;
  }
}
