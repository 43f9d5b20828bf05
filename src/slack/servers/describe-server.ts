import type { Server } from '../../domain/server.ts';
import { DAY_MS, HOUR_MS } from '../../domain/time.ts';
import { stateWords } from '../kit/server-state.ts';
import { codeLabel, count, escapeText, shorten, slackDate, slackDay } from '../kit/text.ts';

/** "in 28 days (Dec 21)", in the reader's zone. */
export function describePaidUntil({ paidUntil }: Pick<Server, 'paidUntil'>, now: number): string {
  if (paidUntil === undefined) return 'unknown';
  const aheadMs = paidUntil - now;
  const words = describeSpan(Math.abs(aheadMs));
  if (aheadMs <= 0) return `ended ${words} ago (${slackDay(paidUntil)})`;
  return `in ${words} (${dayOrTime(paidUntil, aheadMs)})`;
}

function describeSpan(ms: number): string {
  // Rounded as everywhere, so that a month that was bought a second ago has 30 days left.
  if (ms >= DAY_MS) return count(Math.round(ms / DAY_MS), 'day');
  return ms >= HOUR_MS ? count(Math.floor(ms / HOUR_MS), 'hour') : 'less than an hour';
}

const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;

/** The state, and how to log in. What is not plainly an address is not made into a command that someone may paste. */
export function describePlace(server: Server): string {
  const { ipv4 } = server;
  const state = `*${stateWords(server)}*`;
  if (!ipv4) return `${state}\nNo IPv4 address yet.`;
  if (IPV4.test(ipv4)) return `${state}\n\`\`\`ssh root@${ipv4}\`\`\``;
  return `${state}\nIPv4: \`${escapeText(shorten(ipv4, 60).replaceAll('`', ''))}\``;
}

/** A server in one line, what matters first. `isExpiring`: someone should renew it soon. */
export function serverLine(server: Server, now: number, isExpiring = false): string {
  const ipv4 = server.ipv4 ? ` · \`${escapeText(shorten(server.ipv4, 40).replaceAll('`', ''))}\`` : '';
  return `${stateWords(server)} · ${codeLabel(server.label, 40)}${ipv4} · ${describePaidTime(server, now, isExpiring)}`;
}

/** "paid for 28 days (until Dec 21)", in the reader's zone. */
function describePaidTime(
  { paidUntil }: Pick<Server, 'paidUntil'>,
  now: number,
  isExpiring: boolean,
): string {
  if (paidUntil === undefined) return 'paid time unknown';
  const aheadMs = paidUntil - now;
  const words = describeSpan(Math.abs(aheadMs));
  if (aheadMs <= 0) return `paid time ended ${words} ago (${slackDay(paidUntil)})`;
  const paid = `paid for ${words}`;
  return `${isExpiring ? `⚠️ *${paid}*` : paid} (until ${dayOrTime(paidUntil, aheadMs)})`;
}

/** The hour matters only when it is near. */
function dayOrTime(paidUntil: number, aheadMs: number): string {
  return aheadMs < 2 * DAY_MS ? slackDate(paidUntil) : slackDay(paidUntil);
}
