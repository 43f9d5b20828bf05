import type { Button } from '@slack/types';
import {
  type HostingCode,
  HostingError,
  isRefusal,
  type RefusalDetails,
  type ServerAct,
} from '../core/errors.ts';
import type { ServerId } from '../core/ids.ts';
import { isPlainAddress, isTargetState, type ListExtent, type Server } from '../core/server.ts';
import { DAY_MS, HOUR_MS } from '../core/time.ts';
import { renewButton } from '../purchases/catalog.ts';
import { codeLabel, count, plainLabel, slackDate, slackDay, stateWords } from '../slack/kit/text.ts';
import { VERBS } from '../words.ts';
import { confirmPower, deleteButton, listButton, powerButton, showButton } from './buttons.ts';

/** "Dec 21, 2026 (28 days left)", in the reader's zone, to stand beside "Paid until". */
export function describePaidUntil({ paidUntil }: Server, now: number): string {
  if (paidUntil === undefined) return 'unknown';
  const aheadMs = paidUntil - now;
  const words = describeSpan(Math.abs(aheadMs));
  return `${dayOrTime(paidUntil, aheadMs)} (${aheadMs > 0 ? `${words} left` : `ended ${words} ago`})`;
}

function describeSpan(ms: number): string {
  // Rounded, so that a month that was bought a second ago has 30 days left.
  if (ms >= DAY_MS) return count(Math.round(ms / DAY_MS), 'day');
  return ms >= HOUR_MS ? count(Math.floor(ms / HOUR_MS), 'hour') : 'less than an hour';
}

/** The state, and how to log in. */
export function describePlace(server: Server): string {
  const { ipv4 } = server;
  const state = `*${stateWords(server)}*`;
  if (!ipv4) return `${state}\nNo IPv4 address yet.`;
  if (isPlainAddress(ipv4)) return `${state}\n\`\`\`ssh root@${ipv4}\`\`\``;
  return `${state}\nIPv4: ${codeLabel(ipv4, 60)}`;
}

/**
 * A server in one line: its label, and its state in words only if it isn't running. `isExpiring`: the paid time is marked as urgent.
 */
export function serverLine(server: Server, now: number, isExpiring = false): string {
  const [dot, ...state] = stateWords(server).split(' ');
  const isRunning = isTargetState('start', server);
  const facts = [
    `${dot} *${codeLabel(server.label, 40)}*`,
    ...(isRunning ? [] : [state.join(' ')]),
    ...(server.ipv4 ? [codeLabel(server.ipv4, 40)] : []),
    describePaidTime(server, now, isExpiring),
  ];
  return facts.join(' · ');
}

/** "28 days left (Dec 21, 2026)", in the reader's zone. */
function describePaidTime({ paidUntil }: Server, now: number, isExpiring: boolean): string {
  if (paidUntil === undefined) return 'paid time unknown';
  const aheadMs = paidUntil - now;
  const words = describeSpan(Math.abs(aheadMs));
  const left = aheadMs > 0 ? `${words} left` : `paid time ended ${words} ago`;
  return `${isExpiring ? `⚠️ *${left}*` : left} (${dayOrTime(paidUntil, aheadMs)})`;
}

/** The hour matters only when it is near. */
function dayOrTime(paidUntil: number, aheadMs: number): string {
  return aheadMs > 0 && aheadMs < 2 * DAY_MS ? slackDate(paidUntil) : slackDay(paidUntil);
}

/** For an empty list. Only a whole one without servers that its reader may not see is an empty account. */
export function noServersWords({ extent, isLimited }: { extent: ListExtent; isLimited: boolean }): string {
  if (extent !== 'whole') return 'No servers to show.';
  return isLimited
    ? 'There are no servers that your role covers.'
    : 'There are no servers in the hosting account yet.';
}

/** Codes after which the same action may work a moment later. */
const PASSING: readonly (HostingCode | 'unknown_code')[] = [
  'not_sent',
  'no_answer',
  'unreadable_answer',
  'unknown_code',
  'rate_limited',
  'wrong_state',
];

/** The buttons to offer after one of our rules refused something about a server. */
export function serverSteps(error: unknown): Button[] {
  if (isRefusal(error, 'prefix_only')) {
    const { action, server } = error.details;
    // Not `sure`: the user hasn't read of a recent reboot yet.
    const text = `${VERBS[action].title} ${plainLabel(server.label, 40)}`;
    return [powerButton[action].element(text, { id: server.id }, { style: 'primary' })];
  }
  if (isRefusal(error, 'rebooted_recently')) {
    // Without another question: the user has read which server it is, and who rebooted it.
    const again = { id: error.details.server.id, sure: true } as const;
    return [powerButton.reboot.element('Reboot again', again, { style: 'primary' })];
  }
  if (isRefusal(error, 'unknown_server')) return nearestButton(error.details);
  if (!isRefusal(error, 'server_protected')) return [];
  return [showButton.element('Show server', { id: error.details.server.id })];
}

/** The buttons to offer after an action that was not carried out. */
export function failedSteps({ code, details: { failed, state = '' } }: HostingError): Button[] {
  if (!failed) return [];
  const { act, label, serverId: id, isPaidTimeOver } = failed;
  if (code === 'not_found') return [];
  const isOff = act === 'reboot' && isTargetState('stop', { state });
  return [
    ...(PASSING.includes(code)
      ? retryButtons(isOff ? 'start' : act, isOff ? 'Start' : 'Try again', id, label)
      : []),
    ...(isPaidTimeOver && id !== undefined ? [renewButton.element('Renew…', { id })] : []),
    ...(id === undefined ? [] : [showButton.element('Show server', { id })]),
  ];
}

/** The server of a failed power action, if nothing was done with proof and the same may work a moment later. */
export function findRetriable(error: unknown): { readonly id: ServerId; readonly label: string } | undefined {
  if (!(error instanceof HostingError) || !PASSING.includes(error.code)) return undefined;
  const { failed, state = '' } = error.details;
  if (failed?.serverId === undefined) return undefined;
  // What is stopped can't be rebooted: it has to be started.
  if (failed.act === 'reboot' && isTargetState('stop', { state })) return undefined;
  return { id: failed.serverId, label: failed.label };
}

function retryButtons(act: ServerAct, text: string, id: ServerId | undefined, label: string): Button[] {
  if (act === 'delete') return id === undefined ? [] : [deleteButton.element(`${text}…`, { id })];
  return [powerButton[act].element(text, id === undefined ? { typed: label } : { id })];
}

/** The buttons for the nearest server, or for all. Stop and reboot ask first, since the user hasn't named that server. */
function nearestButton({ nearest, nearestId: id, act }: RefusalDetails['unknown_server']): Button[] {
  if (nearest === undefined || id === undefined) return [listButton.element('All servers', {})];
  const label = plainLabel(nearest, 40);
  const show = showButton.element(`Show ${label}`, { id });
  if (act === undefined) return [show];
  const confirm = confirmPower(act, [{ label: nearest }]);
  return [powerButton[act].element(`${VERBS[act].title} ${label}`, { id }, { confirm }), show];
}
