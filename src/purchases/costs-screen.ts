import type { KnownBlock } from '@slack/types';
import { describeMoney, type Money, money } from '../core/money.ts';
import { noServersWords } from '../servers/words.ts';
import { barChart, type ChartBlock, context, type Message, section } from '../slack/kit/blocks.ts';
import { defineCommand, parseNothing } from '../slack/kit/command.ts';
import { codeLabel, count, describeNumber, escapeText, mention } from '../slack/kit/text.ts';
import { sendWaiting } from '../slack/reply.ts';
import { type CostShare, type Costs, type PaidThisMonth, readCosts, sum, type Tally } from './costs.ts';

function monthlyWords(costs: Costs, currency: string): string {
  const { servers, monthly } = costs;
  if (servers.length === 0) return noServersWords(costs);
  const unknown = servers.filter(({ price }) => !price).length;
  const known = servers.length - unknown;
  const those = servers.length === 1 ? 'your server costs' : `your ${count(servers.length, 'server')} cost`;
  if (known === 0) return `*We don’t know what ${those} a month.*`;
  const total = `*${amountWords(monthly, currency)} per month* for`;
  if (unknown === 0) return `${total} ${count(known, 'server')}.`;
  return `${total} ${describeNumber(known)} of ${count(servers.length, 'server')}. We don’t know the price of the other${unknown === 1 ? '' : ` ${describeNumber(unknown)}`}.`;
}

/** More would hide what matters. */
const SHARES_SHOWN = 12;

function sharesSection(
  title: string,
  noun: string,
  shares: readonly CostShare[],
  currency: string,
  nameOf: (key: string) => string,
): KnownBlock {
  const lines = shares.slice(0, SHARES_SHOWN).map((share) => {
    const isGone = share.atPaidPrice > 0 && noun === 'plan';
    const note = isGone ? ' · price at creation, since the plan isn’t in today’s catalog' : '';
    return `${nameOf(share.key)} · ${shareWords([share], currency)}${note}`;
  });
  const rest = shares.slice(SHARES_SHOWN);
  const more =
    rest.length > 0 ? [`and ${count(rest.length, `more ${noun}`)} · ${shareWords(rest, currency)}`] : [];
  return section([`*${title}*`, ...lines, ...more].join('\n'));
}

function shareWords(shares: readonly CostShare[], currency: string): string {
  const monthly = sum(shares.map((share) => share.monthly));
  const servers = shares.reduce((all, share) => all + share.servers, 0);
  return `${amountWords(monthly, currency)} · ${count(servers, 'server')}`;
}

const NAMES_SHOWN = 10;

/** The servers whose price is not known: how many, and the first ones by name. */
function unknownWords({ servers }: Costs): string {
  const unknown = servers.filter(({ price }) => !price).map(({ server }) => codeLabel(server.label, 40));
  const rest = unknown.length - NAMES_SHOWN;
  const names = unknown.slice(0, NAMES_SHOWN).join(', ');
  return `*Price unknown* (${describeNumber(unknown.length)}): ${names}${rest > 0 ? ` and ${describeNumber(rest)} more` : ''}\nWe know only the prices of servers that were ordered in this workspace.`;
}

export function paidWords(
  { since, creates, renewals, unconfirmed, unproven }: PaidThisMonth,
  currency: string,
) {
  const month = new Date(since).toLocaleString('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });
  const paid: Tally = {
    count: creates.count + renewals.count,
    amount: money(creates.amount + renewals.amount),
    unpriced: creates.unpriced + renewals.unpriced,
  };
  const line = (tally: Tally, words: (amount: string) => string) =>
    tally.count === 0 ? [] : [words(tallyWords(tally, currency))];
  return [
    `*Paid from Slack in ${month} (UTC): ${paid.count === 0 ? 'nothing' : tallyWords(paid, currency)}*`,
    ...line(creates, (amount) => `• ${count(creates.count, 'new server')}: ${amount}`),
    ...line(renewals, (amount) => `• ${count(renewals.count, 'renewal')}: ${amount}`),
    ...line(
      unconfirmed,
      (amount) => `⏳ ${count(unconfirmed.count, 'unconfirmed order')} may add ${amount}.`,
    ),
    ...line(
      unproven,
      (amount) =>
        `• ${count(unproven.count, 'order')} closed by a manager as not carried out, not counted: ${amount}`,
    ),
  ].join('\n');
}

/** An unknown price is never guessed. */
function tallyWords({ count: all, amount, unpriced }: Tally, currency: string): string {
  if (unpriced === all) return 'an unknown amount';
  return `${amountWords(amount, currency)}${unpriced === 0 ? '' : `, plus ${unpriced} at an unknown price`}`;
}

function amountWords(amount: Money, currency: string): string {
  return escapeText(describeMoney(amount, currency));
}

/** What servers cost a month and what was paid this month, in two paragraphs: for a screen that shows more than that. */
export function costsSummary(costs: Costs, currency: string): KnownBlock[] {
  return [section(monthlyWords(costs, currency)), section(paidWords(costs.paid, currency))];
}

/** All that is known of the costs: with a chart where Slack shows one, and always with the numbers as text. */
export function costsMessage(costs: Costs, currency: string): Message {
  const { servers, byPlan, byPerson } = costs;
  const around = (chart: readonly ChartBlock[]) => [
    section(monthlyWords(costs, currency)),
    ...(costs.isLimited && servers.length > 0
      ? [section('Your role is for some servers only. Other servers and their orders aren’t counted here.')]
      : []),
    ...chart,
    ...(byPlan.length > 0
      ? [
          sharesSection('By plan', 'plan', byPlan, currency, (plan) => codeLabel(plan, 40)),
          sharesSection('By creator', 'user', byPerson, currency, mention),
        ]
      : []),
    ...(servers.some(({ price }) => !price) ? [section(unknownWords(costs))] : []),
    section(paidWords(costs.paid, currency)),
    ...notes(costs),
  ];
  const text = monthlyWords(costs, currency).replaceAll('*', '');
  const chart = chartOf(byPlan, currency);
  return chart.length === 0
    ? { text, blocks: around([]) }
    : { text, blocks: around(chart), plainBlocks: around([]) };
}

/** The largest have a bar of their own; Slack's colors and a phone's width don't tell more apart. */
const BARS = 6;

/** One bar alone would say nothing. */
function chartOf(plans: readonly CostShare[], currency: string): ChartBlock[] {
  if (plans.length < 2) return [];
  const rest = plans.slice(BARS).reduce((sum, { monthly }) => sum + monthly, 0);
  const bars = [
    ...plans.slice(0, BARS).map(({ key, monthly }) => ({ label: key, value: monthly / 100 })),
    ...(plans.length > BARS ? [{ label: 'Other', value: rest / 100 }] : []),
  ];
  const yLabel = currency === '' ? 'Per month' : `${currency} per month`;
  return [barChart({ title: 'Monthly costs by plan', name: 'Per month', yLabel, bars })];
}

function notes({ byPlan, paid: { renewals } }: Costs): KnownBlock[] {
  const parts: string[] = [];
  if (byPlan.length > 0)
    parts.push(
      'Monthly costs are the price of each server’s plan today, if every server is renewed. The hosting API doesn’t say what a renewal costs.',
    );
  if (renewals.count > renewals.unpriced)
    parts.push('Renewals are counted at the price shown when they were confirmed.');
  return parts.length > 0 ? [context(parts.join(' '))] : [];
}

/** `/vps costs`: what servers cost a month as far as it is known, and what was paid here this month. */
export const costs = defineCommand({
  name: 'costs',
  usage: 'costs',
  summary: 'Show monthly costs',
  needs: 'viewer',
  parse: parseNothing,
  run: async (_input, request) => {
    const found = await request.execute(readCosts, { onWait: sendWaiting(request) });
    await request.reply.send(costsMessage(found, request.currency));
  },
});
