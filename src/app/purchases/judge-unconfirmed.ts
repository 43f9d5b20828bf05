import type { ServerId } from '../../domain/ids.ts';
import { isSameLabel } from '../../domain/label.ts';
import type { Operation, Purchase } from '../../domain/operation.ts';
import { isDeleted, type Server, type ServerList } from '../../domain/server.ts';

/** What a list of servers proves about an operation whose outcome is not known. */
export type Verdict =
  | { readonly kind: 'done'; readonly serverId: ServerId; readonly paidUntil?: number }
  | { readonly kind: 'nothing_yet' }
  /** Something fits, but not beyond doubt: a manager has to look. */
  | { readonly kind: 'contradictory' };

/** What an operation is judged by. */
export interface Evidence {
  readonly list: ServerList;
  /** Servers that other orders have created. */
  readonly othersIds: readonly ServerId[];
  /** Whether another order may have done the same: of the same label, or a later one of the same server. */
  readonly hasRival: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
}

const DAY_MS = 86_400_000;
/** A month that was bought ends this many days later, as a service may count it. */
const SHORTEST_MONTH_MS = 20 * DAY_MS;
const LONGEST_MONTH_MS = 40 * DAY_MS;

const NOTHING_YET = { kind: 'nothing_yet' } as const;
const CONTRADICTORY = { kind: 'contradictory' } as const;

/** Judges whether an operation was done after all. From a list that is not complete, nothing follows. Pure. */
export function judge(operation: Operation, evidence: Evidence): Verdict {
  if (evidence.list.extent !== 'whole') return NOTHING_YET;
  const { purchase } = operation;
  return purchase.kind === 'create'
    ? judgeCreate(operation, purchase.order.label, evidence)
    : judgeRenewal(purchase, evidence);
}

/** New servers that no other order has created: the one that an operation has made is among them. */
export function listNewServers(
  { knownIds }: Pick<Operation, 'knownIds'>,
  { servers }: ServerList,
  othersIds: readonly ServerId[],
): readonly Server[] {
  return servers.filter(
    (server) => !knownIds.includes(server.id) && !othersIds.includes(server.id) && !isDeleted(server),
  );
}

function judgeCreate(
  operation: Operation,
  label: string,
  { list, othersIds, hasRival, now }: Evidence,
): Verdict {
  const [mine, ...more] = listNewServers(operation, list, othersIds).filter((server) =>
    isSameLabel(server.label, label),
  );
  if (!mine) return NOTHING_YET;
  // What was never marked as sent here has no IDs from before: any server may be older than the order.
  const isCertain =
    operation.sentAt !== undefined &&
    more.length === 0 &&
    !hasRival &&
    mine.label === label &&
    isMonthBoughtSince(operation, mine, now);
  return isCertain ? { kind: 'done', serverId: mine.id } : CONTRADICTORY;
}

/** The month may have begun at any time since it was ordered: a supplier that checks has no deadline. */
function isMonthBoughtSince({ sentAt, createdAt }: Operation, { paidUntil }: Server, now: number): boolean {
  if (paidUntil === undefined) return false;
  const from = sentAt ?? createdAt;
  return paidUntil >= from + SHORTEST_MONTH_MS && paidUntil <= Math.max(from, now) + LONGEST_MONTH_MS;
}

function judgeRenewal(
  { serverId, paidUntil }: Extract<Purchase, { kind: 'renew' }>,
  { list, hasRival }: Evidence,
): Verdict {
  const server = list.servers.find(({ id }) => id === serverId);
  if (!server || isDeleted(server)) return CONTRADICTORY;
  if (server.paidUntil === undefined || server.paidUntil < paidUntil) return CONTRADICTORY;
  if (server.paidUntil === paidUntil) return NOTHING_YET;
  return hasRival ? CONTRADICTORY : { kind: 'done', serverId, paidUntil: server.paidUntil };
}
