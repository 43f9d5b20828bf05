import type { AuditFault, AuditHead, AuditLog, AuditVerdict } from '../account/ports.ts';
import type { AuditEntry } from '../core/audit-entry.ts';
import {
  type ChainEnds,
  type FoundEntry,
  judgeEnds,
  judgeEntry,
  keepChain,
  type Link,
  NO_LINK,
  parseEnds,
  readChain,
  readPage,
  takeChain,
} from './audit-chain.ts';
import type { Foundation } from './database.ts';

/** Goes through a chain from its beginning to its end, while others may add to it or prune it. */
export async function verifyAudit(foundation: Foundation, workspaceId: string): Promise<AuditVerdict> {
  for (;;) {
    const chain = await readChain(foundation.db, foundation.vault, workspaceId);
    const proven = proveChain(foundation, workspaceId, chain);
    if ('problem' in proven) return { ok: false, ...proven };
    const verdict = await walk(foundation, workspaceId, proven, chain.last.seq);
    if (verdict.ok) return verdict;
    // What is missing may have been pruned since the beginning was read.
    const after = await readChain(foundation.db, foundation.vault, workspaceId);
    if (after.pruned?.seq === chain.pruned?.seq) return verdict;
  }
}

async function walk(
  foundation: Foundation,
  workspaceId: string,
  { pruned, marks }: ProvenChain,
  newestAtStart: number,
): Promise<AuditVerdict> {
  let newest = newestAtStart;
  let link: Link = pruned ?? NO_LINK;
  let after: FoundEntry | undefined;
  let entries = 0;
  for (;;) {
    const page = await readPage(foundation.db, workspaceId, after);
    for (const entry of page) {
      const fault = findEntryFault(foundation, entry, link, newest, marks);
      if (fault) return { ok: false, ...fault };
      link = entry;
      after = entry;
      entries++;
    }
    if (page.length > 0) continue;
    if (link.seq < newest) return { ok: false, ...describeGap(link.seq + 1, newest) };
    // Read after the entries: what it knows of beyond these was added in the meantime.
    const { last } = await readChain(foundation.db, foundation.vault, workspaceId);
    if (last.seq < link.seq || (last.seq === link.seq && last.signature !== link.signature)) {
      return { ok: false, ...describeHead(link.seq) };
    }
    if (last.seq === link.seq) return describeWhole(link, entries, pruned);
    newest = last.seq;
  }
}

function describeWhole({ seq }: Link, entries: number, pruned: ProvenChain['pruned']): AuditVerdict {
  return {
    ok: true,
    entries,
    from: entries === 0 ? 0 : seq - entries + 1,
    to: entries === 0 ? 0 : seq,
    pruned: pruned && { count: pruned.count, at: pruned.at },
  };
}

/** How far around its place an entry is looked for that is not signed for it. */
const MOST_MOVED = 50_000;

/** A chain whose ends are right. */
interface ProvenChain {
  readonly pruned?: ChainEnds['pruned'];
  /** Where it ended when a key was missing: it has to have gone on from there. */
  readonly marks: readonly Link[];
}

/** Proves the ends of a chain, also those that were inherited; or says what is wrong with them. */
function proveChain(
  { vault }: Pick<Foundation, 'vault'>,
  workspaceId: string,
  { last, pruned, inherited }: ChainEnds,
): ProvenChain | AuditFault {
  if (!inherited) return { pruned, marks: [] };
  const verdict = judgeEnds(vault, workspaceId, inherited);
  if (verdict === 'altered') return describeHead(last.seq);
  if (verdict !== 'signed') {
    return keyMissing({ seq: last.seq }, 'Where the chain ends', verdict.lostKey);
  }
  const before = parseEnds(inherited.ends);
  const older = proveChain({ vault }, workspaceId, before);
  if ('problem' in older) return older;
  return { pruned: pruned ?? older.pruned, marks: [...older.marks, before.last] };
}

/** Finds what is wrong with an entry that comes after another; `newest` is how far the chain goes at least. */
function findEntryFault(
  { vault }: Pick<Foundation, 'vault'>,
  entry: FoundEntry,
  previous: Link,
  newest: number,
  marks: readonly Link[],
): AuditFault | undefined {
  const { id } = entry;
  const next = previous.seq + 1;
  const seq = Number.isSafeInteger(entry.seq) ? entry.seq : next;
  if (seq > next && next <= newest) return describeGap(next, Math.min(seq - 1, newest));
  const verdict = judgeEntry(vault, entry.cells, entry.signature);
  if (verdict === 'altered') {
    if (isMoved({ vault }, entry, newest)) return describeMove(id, seq);
    const words = `Entry ${seq} (${id}) is not as it was written: it was changed, or does not belong here.`;
    return { seq, id, problem: 'changed', words };
  }
  if (verdict !== 'signed') return keyMissing({ seq, id }, `Entry ${seq} (${id})`, verdict.lostKey);
  if (seq > next) return describeGap(next, seq - 1);
  if (seq < next || entry.cells.previous !== previous.signature) return describeMove(id, seq);
  const isOther = marks.some((mark) => mark.seq === seq && mark.signature !== entry.signature);
  return isOther ? describeGap(seq, seq) : undefined;
}

/** Says which entries are gone. */
function describeGap(from: number, to: number): AuditFault {
  const words = from < to ? `Entries ${from} to ${to} were removed.` : `Entry ${from} was removed.`;
  return { seq: from, problem: 'removed', words };
}

/** Says that the end of the chain is not known. */
function describeHead(seq: number): AuditFault {
  const words =
    'The note of where the chain begins and ends was changed or removed: the newest entries may be missing.';
  return { seq, problem: 'head', words };
}

function describeMove(id: string, seq: number): AuditFault {
  const words = `Entry ${seq} (${id}) does not stand where it was written: it was moved or copied.`;
  return { seq, id, problem: 'reordered', words };
}

function keyMissing(where: { seq: number; id?: string }, what: string, keyId: string): AuditFault {
  const words = `${what} was signed under the key "${keyId}", which ENCRYPTION_KEYS does not have. Put it back, after the others.`;
  return { ...where, problem: 'key_missing', words };
}

/** Whether it is signed for another place near by. */
function isMoved({ vault }: Pick<Foundation, 'vault'>, entry: FoundEntry, newest: number): boolean {
  const from = Math.max(1, entry.seq - MOST_MOVED);
  const to = Math.min(newest, entry.seq + MOST_MOVED);
  for (let seq = from; seq <= to; seq++) {
    if (judgeEntry(vault, { ...entry.cells, seq }, entry.signature) === 'signed') return true;
  }
  return false;
}

/** Says what is wrong when a chain that is whole in itself does not go on from a head that was published. */
export async function findHeadFault(
  { db, vault }: Pick<Foundation, 'db' | 'vault'>,
  workspaceId: string,
  published: AuditHead,
): Promise<AuditFault | undefined> {
  const { last, pruned } = await readChain(db, vault, workspaceId);
  const { seq } = published;
  if (seq > last.seq) return describeGap(last.seq + 1, seq);
  // Pruned entries are gone, other than the signature of the last one.
  if (pruned && seq < pruned.seq) return undefined;
  const found = pruned?.seq === seq ? pruned : await findEntry({ db }, workspaceId, seq);
  if (found?.signature === published.signature) return undefined;
  const words = `Entry ${seq} is not the one that was published: the audit was put back to an earlier state and continued.`;
  return { seq, problem: 'head', words };
}

async function findEntry({ db }: Pick<Foundation, 'db'>, workspaceId: string, seq: number) {
  return db
    .selectFrom('audit')
    .select('signature')
    .where('workspace_id', '=', workspaceId)
    .where('seq', '=', seq)
    .executeTakeFirst();
}

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
