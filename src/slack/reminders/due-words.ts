import type { Digest } from '../../domain/digest.ts';
import { describeMonthly } from '../../domain/money.ts';
import { codeLabel, count, escapeText, mention, slackDate, slackDay } from '../kit/text.ts';

export type DigestServer = Digest['due'][number];

/** Labels are shortened, so that even many of them fit into one message. */
const LABEL_MOST = 40;

/** A label as digests write it. */
export function digestLabel(label: string): string {
  return codeLabel(label, LABEL_MOST);
}

/** A server that has to be renewed, and what has become of it since, in one line. */
export function dueWords(server: DigestServer, currency: string): string {
  return `${ICONS[server.standing.kind === 'due' ? server.urgency : server.standing.kind]} ${digestLabel(server.label)} · ${standingWords(server, currency)}`;
}

const ICONS: Readonly<
  Record<DigestServer['urgency'] | Exclude<DigestServer['standing']['kind'], 'due'>, string>
> = {
  high: '🔴',
  medium: '🟡',
  low: '⚪',
  expired: '⚪',
  paying: '🔵',
  unconfirmed: '🟡',
  renewed: '🟢',
  snoozed: '⚪',
  left: '⚪',
  gone: '⚪',
};

function standingWords({ standing, paidUntil, daysLeft, price }: DigestServer, currency: string): string {
  switch (standing.kind) {
    case 'due': {
      const monthly = price === undefined ? 'price unknown' : escapeText(describeMonthly(price, currency));
      return `*${daysLeftWords(daysLeft)}*, paid until ${slackDate(paidUntil)} · ${monthly}`;
    }
    case 'expired':
      return `paid time ended ${slackDate(paidUntil)}`;
    case 'paying':
      return `${mention(standing.by)} is renewing it…`;
    case 'unconfirmed':
      return `the renewal by ${mention(standing.by)} isn’t confirmed yet`;
    case 'renewed': {
      const who = `renewed by ${mention(standing.by)}`;
      return standing.paidUntil === undefined ? who : `${who}, paid until ${slackDate(standing.paidUntil)}`;
    }
    case 'snoozed':
      return `snoozed by ${mention(standing.by)} until ${dayWords(standing.untilDay)} · paid until ${slackDay(paidUntil)}`;
    case 'left':
      return `left to expire by ${mention(standing.by)} · paid until ${slackDate(paidUntil)}`;
    case 'gone':
      return `deleted by ${mention(standing.by)}`;
  }
}

function daysLeftWords(days: number): string {
  if (days <= 0) return 'ends today';
  return days === 1 ? 'ends tomorrow' : `${count(days, 'day')} left`;
}

/** "Mar 5": a day of the digest's own time zone, whatever the reader's. */
export function dayWords(day: string): string {
  return new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', month: 'short', day: 'numeric' }).format(
    Date.parse(day),
  );
}
