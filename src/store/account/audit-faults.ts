import type { AuditFault } from '../../app/account/ports.ts';
import type { Foundation } from '../engine/database.ts';
import { type ChainEnds, judgeEnds, judgeEntry, parseEnds } from './audit-chain.ts';
import type { Link } from './audit-head.ts';
import type { FoundEntry } from './audit-pages.ts';

/** How far around its place an entry is looked for that is not signed for it. */
const MOST_MOVED = 50_000;

/** A chain whose ends are right. */
export interface ProvenChain {
  readonly pruned?: ChainEnds['pruned'];
  /** Where it ended when a key was missing: it has to have gone on from there. */
  readonly marks: readonly Link[];
}

/** Proves the ends of a chain, also those that were inherited; or says what is wrong with them. */
export function proveChain(
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
export function findEntryFault(
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
export function describeGap(from: number, to: number): AuditFault {
  const words = from < to ? `Entries ${from} to ${to} were removed.` : `Entry ${from} was removed.`;
  return { seq: from, problem: 'removed', words };
}

/** Says that the end of the chain is not known. */
export function describeHead(seq: number): AuditFault {
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
