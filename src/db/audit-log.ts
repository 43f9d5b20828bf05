import { type ExpressionBuilder, type SelectQueryBuilder, sql } from 'kysely';
import {
  type AuditDetails,
  type AuditEntry,
  type AuditProblem,
  describeDetails,
  type StoredEntry,
} from '../core/audit-entry.ts';
import type { ServerId, WorkspaceId } from '../core/ids.ts';
import { money } from '../core/money.ts';
import { THE_APP } from '../core/roles.ts';
import {
  AUDITED,
  addAudit,
  type Head,
  hasEvidence,
  judge,
  type Link,
  lockHead,
  NO_LINK,
  PAGE,
  readBreak,
  readHead,
  readPage,
  searchKeyOf,
  writeEntry,
  writeHead,
} from './audit.ts';
import type { Foundation } from './database.ts';
import type { AuditRow, Tables } from './tables.ts';
import type { Vault } from './vault.ts';

export interface AuditFilter {
  readonly workspaceId: string;
  readonly actorId?: string;
  /** Matches a label or an ID. */
  readonly server?: string;
  readonly actions?: readonly string[];
  readonly seq?: number;
  /** Epoch milliseconds; `since` is inclusive, `until` is exclusive. */
  readonly since?: number;
  readonly until?: number;
  /** Only entries with a smaller number. */
  readonly before?: number;
  /** Leaves out the beginnings of acts whose outcome is recorded. */
  readonly isBrief?: boolean;
  readonly limit: number;
}

interface LastFilter {
  readonly workspaceId: WorkspaceId;
  readonly serverId: ServerId;
  readonly actions: readonly string[];
  readonly outcomes: readonly AuditEntry['outcome'][];
  /** Epoch milliseconds. */
  readonly since?: number;
}

/** Codes of attempts that were refused, or only asked about, before anything was done to the server. */
const DID_NOTHING = [
  'prefix_only',
  'rebooted_recently',
  'server_protected',
  'server_renamed',
  'label_differs',
  'unreadable_press',
  'already_handled',
] as const;

/** The first altered entry of a chain; `seq` is its position. */
export interface AuditFault {
  readonly seq: number;
  readonly id?: string;
  readonly problem: AuditProblem;
  readonly words: string;
}

export type AuditVerdict =
  | {
      readonly ok: true;
      readonly entries: number;
      /** Numbers of the oldest and the newest entry; 0 when there is none. */
      readonly from: number;
      readonly to: number;
      readonly pruned?: { readonly count: number; readonly at: number };
    }
  | ({ readonly ok: false } & AuditFault);

export interface AuditHead {
  readonly seq: number;
  readonly signature: string;
}

/** An outcome is looked for this many entries after its start: an action takes minutes, and a search has to end. */
const LOOK_AHEAD = 2000;

export type AuditLog = ReturnType<typeof createAuditLog>;

/**
 * Stores who did what, with what outcome. It only grows, other than by pruning, and is a signed chain
 * (docs/decisions/0006-the-audit-is-a-signed-chain.md): `verify` finds what was changed without the app. Times are in
 * epoch milliseconds.
 */
export function createAuditLog(foundation: Foundation) {
  const { db, engine } = foundation;
  const listWorkspaces = async (): Promise<readonly string[]> => {
    const rows = await db
      .selectFrom('audit')
      .select('workspace_id')
      .union(db.selectFrom('audit_heads').select('workspace_id'))
      .union(db.selectFrom('api_keys').select('workspace_id'))
      .union(db.selectFrom('operations').select('workspace_id').where('state', 'in', AUDITED))
      .orderBy('workspace_id')
      .execute();
    return rows.map((row) => row.workspace_id);
  };
  return {
    add: (entry: AuditEntry): Promise<void> => add(foundation, entry),
    /** Newest first. */
    list: async ({ before, isBrief, limit, ...filter }: AuditFilter): Promise<readonly StoredEntry[]> => {
      let query = select(foundation, filter).orderBy('audit.seq', 'desc').limit(limit);
      if (before !== undefined) query = query.where('audit.seq', '<', before);
      if (isBrief) query = query.where(isNews);
      return (await query.execute()).map(toEntry);
    },
    /** Finds the newest entry about a server with one of these actions and outcomes, without attempts that did nothing to it. */
    findLast: async ({ workspaceId, serverId, actions, outcomes, since = 0 }: LastFilter) => {
      // Written out, like `listFor` of the grants.
      const { rows } = await sql<AuditRow>`
        select * from audit
        where workspace_id = ${workspaceId} and server_id = ${serverId} and at >= ${since}
          and action in (${sql.join(actions)}) and outcome in (${sql.join(outcomes)})
          and (code is null or code not in (${sql.join(DID_NOTHING)}))
        order by seq desc limit 1`.execute(db);
      return rows[0] && toEntry(rows[0]);
    },
    /** Oldest first, page by page. */
    read: (filter: Filter): AsyncIterable<StoredEntry> => readAll(foundation, filter),
    /**
     * Verifies the chain of a workspace up to the first fault. With a head that was published earlier, the chain also has to
     * continue from it.
     */
    verify: (workspaceId: string, published?: AuditHead): Promise<AuditVerdict> =>
      verifyAudit(foundation, workspaceId, published),
    /** Lists the newest entry of every chain. */
    listHeads: async () => {
      const rows = await db
        .selectFrom('audit_heads')
        .select(['workspace_id', 'seq', 'mac'])
        .where('seq', '>', 0)
        .orderBy('workspace_id')
        .execute();
      return rows.map(({ workspace_id, seq, mac }) => ({ workspaceId: workspace_id, seq, signature: mac }));
    },
    /**
     * Removes entries older than `before` in every workspace, and audits that. Keeps an altered entry and everything after it as
     * evidence.
     */
    prune: async (before: number, at: number): Promise<void> => {
      for (const workspaceId of await listWorkspaces())
        await pruneChain(foundation, workspaceId, Math.min(before, at), at);
      await engine.scrub(db);
    },
    /** Workspaces that have or had entries. */
    listWorkspaces,
  };
}

function add(foundation: Foundation, entry: AuditEntry): Promise<void> {
  const { db, engine } = foundation;
  return engine.transact(db, (trx) => addAudit(trx, foundation, entry));
}

type Filter = Omit<AuditFilter, 'before' | 'isBrief' | 'limit'>;

function select({ db }: Foundation, filter: Filter): SelectQueryBuilder<Tables, 'audit', AuditRow> {
  const { workspaceId, actorId, server, actions, seq, since, until } = filter;
  let query = db.selectFrom('audit').selectAll().where('workspace_id', '=', workspaceId);
  if (actorId !== undefined) query = query.where('actor_id', '=', actorId);
  if (seq !== undefined) query = query.where('seq', '=', seq);
  if (actions !== undefined) query = query.where('action', 'in', actions);
  if (since !== undefined) query = query.where('at', '>=', since);
  if (until !== undefined) query = query.where('at', '<', until);
  if (server === undefined) return query;
  return query.where((column) => {
    const byLabel = column('label_key', '=', searchKeyOf(server));
    const typedId = /^\d{1,15}$/.test(server) ? Number(server) : undefined;
    return typedId === undefined ? byLabel : column.or([byLabel, column('server_id', '=', typedId)]);
  });
}

/** Whether an entry says more than that an act began whose outcome another entry has. */
function isNews(column: ExpressionBuilder<Tables, 'audit'>) {
  const ends = column
    .selectFrom('audit as end')
    .select('end.seq')
    .whereRef('end.workspace_id', '=', 'audit.workspace_id')
    .whereRef('end.act_id', '=', 'audit.act_id')
    .whereRef('end.seq', '>', 'audit.seq')
    .where('end.seq', '<=', column('audit.seq', '+', LOOK_AHEAD));
  return column.or([column('audit.outcome', '<>', 'started'), column.not(column.exists(ends))]);
}

async function* readAll(foundation: Foundation, filter: Filter): AsyncGenerator<StoredEntry> {
  let after = 0;
  for (;;) {
    const rows = await select(foundation, filter)
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(PAGE)
      .execute();
    yield* rows.map(toEntry);
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    after = last.seq;
  }
}

function toEntry(row: AuditRow): StoredEntry {
  const details = row.details === null ? undefined : (JSON.parse(row.details) as AuditDetails);
  return {
    id: row.id,
    seq: row.seq,
    signature: row.mac,
    at: row.at,
    workspaceId: row.workspace_id,
    actorId: row.actor_id,
    surface: row.surface,
    action: row.action,
    actId: row.act_id,
    outcome: row.outcome,
    channelId: row.channel_id ?? undefined,
    serverId: row.server_id ?? undefined,
    label: row.label ?? (details && describeDetails(details)),
    details,
    code: row.code ?? undefined,
    operationId: row.operation_id ?? undefined,
    money: row.money === null ? undefined : money(row.money),
  };
}

/** Walks a chain from its beginning to its end, while others may add to it or prune it. */
async function verifyAudit(
  foundation: Foundation,
  workspaceId: string,
  published?: AuditHead,
): Promise<AuditVerdict> {
  for (;;) {
    const head = await readHead(foundation.db, workspaceId);
    const verdict = await walk(foundation, workspaceId, head, published);
    if (verdict.ok) return verdict;
    // What is missing may have been pruned since the head was read.
    const after = await readHead(foundation.db, workspaceId);
    if (after?.pruned_seq === head?.pruned_seq) return verdict;
  }
}

/** Walks a chain to its head as it was read; what is added in the meantime comes after that. */
async function walk(
  { db, vault }: Foundation,
  workspaceId: string,
  head: Head | undefined,
  published: AuditHead | undefined,
): Promise<AuditVerdict> {
  const start = proveStart(vault, workspaceId, head);
  if ('problem' in start) return { ok: false, ...start };
  const end = head ?? NO_LINK;
  let link: Link = start;
  let fault = findHeadFault(vault, workspaceId, head) ?? findOther(link, published);
  const readNext = () => readPage(db, workspaceId, link === start ? undefined : link.seq);
  const check = (entry: AuditRow) => {
    fault ??= findEntryFault(vault, workspaceId, entry, link) ?? findOther(entry, published);
    link = entry;
  };
  while (!fault && link.seq < end.seq) {
    const page = await readNext();
    if (page.length === 0) fault = describeGap(link.seq + 1, end.seq);
    for (const entry of page) if (link.seq < end.seq) check(entry);
  }
  if (fault) return { ok: false, ...fault };
  if (link.mac !== end.mac || (!head && (await hasEvidence(db, workspaceId))))
    return { ok: false, ...describeHead(link.seq) };
  if (published && published.seq > link.seq)
    return { ok: false, ...describeGap(link.seq + 1, published.seq) };
  const last = link;
  const [later] = await readNext();
  if (later && (await readHead(db, workspaceId))?.seq === head?.seq) {
    check(later);
    return { ok: false, ...(fault ?? describeHead(last.seq)) };
  }
  return describeWhole(start, last, head);
}

function describeWhole({ seq: before }: Link, { seq: to }: Link, head: Head | undefined): AuditVerdict {
  const entries = to - before;
  return {
    ok: true,
    entries,
    from: entries === 0 ? 0 : before + 1,
    to: entries === 0 ? 0 : to,
    pruned: before === 0 ? undefined : { count: before, at: head?.pruned_at ?? 0 },
  };
}

function proveStart(vault: Vault, workspaceId: string, head: Head | undefined): Link | AuditFault {
  if (!head || head.pruned_signature === '') return NO_LINK;
  const verdict = judge(vault, 'audit pruned', writePruned(workspaceId, head), head.pruned_signature);
  const seq = head.pruned_seq;
  if (verdict === 'signed') return { seq, mac: head.pruned_mac };
  return verdict === 'altered'
    ? describeHead(seq)
    : describeLostKey({ seq }, 'The beginning of the chain', verdict.lostKey);
}

type Pruned = Pick<Head, 'pruned_seq' | 'pruned_mac' | 'pruned_at'>;

function writePruned(workspaceId: string, { pruned_seq, pruned_mac, pruned_at }: Pruned): string {
  return JSON.stringify([workspaceId, pruned_seq, pruned_mac, pruned_at]);
}

/** Finds what is wrong with the head itself. There is none before the first entry. */
function findHeadFault(vault: Vault, workspaceId: string, head: Head | undefined): AuditFault | undefined {
  if (!head) return undefined;
  const verdict = judge(vault, 'audit head', writeHead(workspaceId, head), head.signature);
  if (verdict === 'signed') return undefined;
  return verdict === 'altered'
    ? describeHead(head.seq)
    : describeLostKey({ seq: head.seq }, 'The end of the chain', verdict.lostKey);
}

/** Finds what is wrong with an entry that comes after another. */
function findEntryFault(
  vault: Vault,
  workspaceId: string,
  entry: AuditRow,
  before: Link,
): AuditFault | undefined {
  const { seq, id, mac, previous } = entry;
  const verdict = judge(vault, 'audit entry', writeEntry(entry), mac);
  const next = before.seq + 1;
  if (verdict === 'altered' || seq < next) {
    const words = `Entry ${seq} (${id}) is not as it was written: it was changed or moved, or does not belong here.`;
    return { seq, id, problem: 'changed', words };
  }
  if (verdict !== 'signed') return describeLostKey({ seq, id }, `Entry ${seq} (${id})`, verdict.lostKey);
  if (seq > next) return describeGap(next, seq - 1);
  if (previous === before.mac) return undefined;
  const found = readBreak(previous);
  const proof = found && judge(vault, 'audit head', writeHead(workspaceId, before), found);
  if (proof === 'signed') return undefined;
  if (typeof proof === 'object')
    return describeLostKey({ seq, id }, `What is before entry ${seq}`, proof.lostKey);
  const words = `What was recorded before entry ${seq} (${id}) was removed or replaced.`;
  return { seq, id, problem: 'removed', words };
}

/** Finds out that the chain has another entry than the one that was published under its number. */
function findOther({ seq, mac }: Link, published: AuditHead | undefined): AuditFault | undefined {
  if (seq !== published?.seq || mac === published.signature) return undefined;
  const words = `Entry ${seq} is not the one that was published: the audit log was put back to an earlier state and then continued.`;
  return { seq, problem: 'head', words };
}

function describeGap(from: number, to: number): AuditFault {
  const words = from < to ? `Entries ${from} to ${to} were removed.` : `Entry ${from} was removed.`;
  return { seq: from, problem: 'removed', words };
}

function describeHead(seq: number): AuditFault {
  const words =
    'The record of where the chain begins and ends was changed or removed, so the newest entries may be missing.';
  return { seq, problem: 'head', words };
}

function describeLostKey(where: { seq: number; id?: string }, what: string, keyId: string): AuditFault {
  const words = `${what} was signed under the key "${keyId}", which is missing from ENCRYPTION_KEYS. Put it back, after the others.`;
  return { ...where, problem: 'key_missing', words };
}

/**
 * Removes the entries of a chain that are older, from its beginning to the first that is not, and remembers the last of them: the
 * next one is signed as coming after it. A page at a time, so that other transactions don't wait long.
 */
async function pruneChain(
  foundation: Foundation,
  workspaceId: string,
  before: number,
  at: number,
): Promise<void> {
  const [oldest] = await readPage(foundation.db, workspaceId);
  if (!oldest || oldest.at >= before) return;
  const by = { at, actorId: THE_APP, surface: 'background', actId: foundation.newId() } as const;
  const write = (outcome: AuditEntry['outcome'], code?: AuditEntry['code']) =>
    add(foundation, { ...by, workspaceId, action: 'audit_prune', outcome, code });
  await write('started');
  for (;;) {
    const removed = await prunePage(foundation, workspaceId, before, at);
    if (typeof removed === 'object') return write('failed', removed.problem);
    if (removed === 0) return write('done');
  }
}

/** Returns how many entries were removed, or the fault at which that stopped. */
function prunePage(
  { db, engine, vault }: Foundation,
  workspaceId: string,
  before: number,
  at: number,
): Promise<number | AuditFault> {
  return engine.transact(db, async (trx) => {
    const start = proveStart(vault, workspaceId, await lockHead(trx, workspaceId));
    if ('problem' in start) return start;
    let link: Link = start;
    for (const entry of await readPage(trx, workspaceId)) {
      if (entry.at >= before) break;
      const fault = findEntryFault(vault, workspaceId, entry, link);
      if (fault) return fault;
      link = entry;
    }
    const removed = link.seq - start.seq;
    if (removed === 0) return removed;
    await trx
      .deleteFrom('audit')
      .where('workspace_id', '=', workspaceId)
      .where('seq', '<=', link.seq)
      .execute();
    const pruned = { pruned_seq: link.seq, pruned_mac: link.mac, pruned_at: at };
    await trx
      .updateTable('audit_heads')
      .set({ ...pruned, pruned_signature: vault.sign(writePruned(workspaceId, pruned), 'audit pruned') })
      .where('workspace_id', '=', workspaceId)
      .execute();
    return removed;
  });
}
