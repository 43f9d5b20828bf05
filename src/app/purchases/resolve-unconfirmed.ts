import type { ServerId } from '../../domain/ids.ts';
import { isSameLabel } from '../../domain/label.ts';
import type { Operation } from '../../domain/operation.ts';
import type { UnconfirmedReason } from '../../domain/outcome.ts';
import type { Server } from '../../domain/server.ts';
import { isReconnectedSince } from '../account/hosting-since.ts';
import { auditOfOperation } from './audit-operation.ts';
import type { ResolvePorts } from './ports.ts';

/** What a list of servers proves about an unconfirmed operation. */
export type Verdict =
  | { readonly kind: 'done'; readonly serverId: ServerId; readonly paidUntil?: number }
  | { readonly kind: 'nothing_yet' }
  /** The evidence contradicts itself: more than one candidate, or a paid time that fits no outcome. */
  | { readonly kind: 'contradictory' };

/** Judges by the list of servers whether an unconfirmed operation was done after all. Pure. */
export function judge(
  operation: Operation,
  servers: readonly Server[],
  othersIds: readonly ServerId[],
): Verdict {
  const { purchase } = operation;
  if (purchase.kind === 'create') {
    const fresh = servers.filter(({ id }) => !operation.knownIds.includes(id) && !othersIds.includes(id));
    const mine = fresh.filter(({ label }) => isSameLabel(label, purchase.order.label));
    if (mine.length > 1) return { kind: 'contradictory' };
    return mine[0] ? { kind: 'done', serverId: mine[0].id } : { kind: 'nothing_yet' };
  }
  const server = servers.find(({ id }) => id === purchase.serverId);
  if (server?.paidUntil === undefined || server.paidUntil < purchase.paidUntil)
    return { kind: 'contradictory' };
  return server.paidUntil > purchase.paidUntil
    ? { kind: 'done', serverId: server.id, paidUntil: server.paidUntil }
    : { kind: 'nothing_yet' };
}

/** Counts new servers that no other order here has created: one of them may be ours under a changed label. */
export function countStrangers(
  operation: Operation,
  servers: readonly Server[],
  othersIds: readonly ServerId[],
): number {
  if (operation.purchase.kind !== 'create') return 0;
  return servers.filter(({ id }) => !operation.knownIds.includes(id) && !othersIds.includes(id)).length;
}

/**
 * Looks once for what became of an unconfirmed operation, and ends it if that can be told (docs/design.md 4.8).
 * Money effect: none; nothing is ever sent again.
 * @throws HostingError when the list can't be had; then nothing is concluded
 */
export async function resolveUnconfirmed(operation: Operation, ports: ResolvePorts): Promise<void> {
  if (operation.state !== 'unconfirmed' || operation.needsDecision) return;
  const { ledger, apiKeys } = ports;
  const held = await apiKeys.find(operation.workspaceId);
  if (!held) return;
  if (isReconnectedSince(held, operation.createdAt)) {
    // What is, or is not, in another account proves nothing.
    await leaveToManager(operation, ports, { code: 'account_changed', details: {} });
    return;
  }
  const requestedAt = ports.system.now();
  const hosting = ports.hostingOf(held.key);
  const servers = await hosting.listServers({ freshness: 'fresh', urgency: 'background' });
  const newIds = servers.map(({ id }) => id).filter((id) => !operation.knownIds.includes(id));
  const othersIds = await ledger.listSettledIds(operation.workspaceId, newIds);
  // An id that an earlier account gave out may be another server here: it can't be ours for certain, nor surely not.
  const settledHere = await ledger.listSettledIds(operation.workspaceId, newIds, held.setAt);
  const verdict = judge(operation, servers, othersIds);
  const at = ports.system.now();
  if (verdict.kind === 'done') {
    const { kind: _, ...found } = verdict;
    const audit = auditOfOperation(operation, ports, 'done', {
      serverId: found.serverId,
      surface: 'background',
    });
    await ledger.settle(operation.id, { at, ...found }, audit);
    return;
  }
  // By the time of the request: a list from before the end of the waiting time says nothing about its end.
  const isOver = requestedAt >= (operation.sentAt ?? operation.createdAt) + ports.settings.unconfirmedMs;
  if (verdict.kind === 'contradictory' || (isOver && countStrangers(operation, servers, settledHere) > 0)) {
    await leaveToManager(operation, ports);
  } else if (isOver) {
    const audit = auditOfOperation(operation, ports, 'failed', { code: 'not_done', surface: 'background' });
    await ledger.refuse(operation.id, { at, reason: { code: 'not_done', details: {} } }, audit);
  }
}

async function leaveToManager(
  operation: Operation,
  ports: ResolvePorts,
  reason?: UnconfirmedReason,
): Promise<void> {
  const code = reason?.code ?? 'needs_person';
  const audit = auditOfOperation(operation, ports, 'in_doubt', { code, surface: 'background' });
  await ports.ledger.markNeedsDecision(operation.id, audit, reason);
}
