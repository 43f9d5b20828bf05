import type { CostShare, Costs, PaidThisMonth, Tally } from '../../app/purchases/read-costs.ts';
import { describeMoney, money } from '../../domain/money.ts';
import { codeLabel, count, describeNumber, escapeText, mention } from '../kit/text.ts';

/** What servers cost a month, as far as it is known. */
export function monthlyWords({ servers, monthly, isLimited }: Costs, currency: string): string {
  if (servers.length === 0)
    return isLimited
      ? 'There are no servers that your role covers.'
      : 'There are no servers in the hosting account yet.';
  const unknown = servers.filter(({ price }) => !price).length;
  const known = servers.length - unknown;
  if (known === 0) return `*We don’t know what ${those(servers.length)} a month.*`;
  const total = `*${amountWords(monthly, currency)} per month* for`;
  if (unknown === 0) return `${total} ${count(known, 'server')}.`;
  return `${total} ${describeNumber(known)} of ${count(servers.length, 'server')}. We don’t know the price of the other${unknown === 1 ? '' : ` ${describeNumber(unknown)}`}.`;
}

function those(servers: number): string {
  return servers === 1 ? 'your server costs' : `your ${count(servers, 'server')} cost`;
}

/** More would hide what matters; the CSV has them all. */
const SHARES_SHOWN = 12;

/** The plans, each with what its servers cost together. */
export function planWords(plans: readonly CostShare[], currency: string): string {
  const lines = plans.map(
    (share) =>
      `${codeLabel(share.key, 40)} · ${shareWords(share, currency)}${share.atPaidPrice > 0 ? ' · price at creation, since the plan isn’t in today’s catalog' : ''}`,
  );
  return ['*By plan*', ...lines.slice(0, SHARES_SHOWN), ...restWords(plans, 'plan', currency)].join('\n');
}

/** Who created servers, each with what those cost together. */
export function personWords(people: readonly CostShare[], currency: string): string {
  const lines = people.map((share) => `${mention(share.key)} · ${shareWords(share, currency)}`);
  return ['*By creator*', ...lines.slice(0, SHARES_SHOWN), ...restWords(people, 'user', currency)].join('\n');
}

function shareWords({ monthly, servers }: Pick<CostShare, 'monthly' | 'servers'>, currency: string): string {
  return `${amountWords(monthly, currency)} · ${count(servers, 'server')}`;
}

function restWords(shares: readonly CostShare[], noun: string, currency: string): string[] {
  const rest = shares.slice(SHARES_SHOWN);
  if (rest.length === 0) return [];
  const monthly = money(rest.reduce((sum, share) => sum + share.monthly, 0));
  const servers = rest.reduce((sum, share) => sum + share.servers, 0);
  return [`and ${count(rest.length, `more ${noun}`)} · ${shareWords({ monthly, servers }, currency)}`];
}

const NAMES_SHOWN = 10;

/** The servers whose price is not known: how many, and the first ones by name. */
export function unknownWords({ servers }: Costs): string {
  const unknown = servers.filter(({ price }) => !price).map(({ server }) => codeLabel(server.label, 40));
  const rest = unknown.length - NAMES_SHOWN;
  const names = unknown.slice(0, NAMES_SHOWN).join(', ');
  return `*Price unknown* (${describeNumber(unknown.length)}): ${names}${rest > 0 ? ` and ${describeNumber(rest)} more` : ''}\nThe app knows only the prices of servers that were created with it in this workspace.`;
}

/** What was paid with this app this month, and what may have been. */
export function paidWords(
  { since, creates, renewals, unconfirmed, unproven }: PaidThisMonth,
  currency: string,
) {
  const month = new Date(since).toLocaleString('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });
  const paid = amountWords(money(creates.amount + renewals.amount), currency);
  const isNothing = creates.count + renewals.count === 0;
  return [
    `*Paid with this app in ${month} (UTC): ${isNothing ? 'nothing' : paid}*`,
    ...line(creates, (tally) => `• ${count(tally.count, 'new server')}: ${tallyWords(tally, currency)}`),
    ...line(renewals, (tally) => `• ${count(tally.count, 'renewal')}: ${tallyWords(tally, currency)}`),
    ...line(unconfirmed, (tally) => `🟡 ${unconfirmedWords(tally, currency)}`),
    ...line(unproven, (tally) => `⚪ ${unprovenWords(tally, currency)}`),
  ].join('\n');
}

function line(tally: Tally, words: (tally: Tally) => string): string[] {
  return tally.count === 0 ? [] : [words(tally)];
}

/** An unknown price is never guessed. */
function tallyWords({ count: all, amount, unpriced }: Tally, currency: string): string {
  if (unpriced === all) return 'price unknown, not counted';
  const known = amountWords(amount, currency);
  return unpriced === 0 ? known : `${known} (${unpriced} at an unknown price, not counted)`;
}

function unconfirmedWords({ count: all, amount, unpriced }: Tally, currency: string): string {
  const which = all === 1 ? '1 order isn’t confirmed' : `${count(all, 'order')} aren’t confirmed`;
  if (unpriced === all) return `${which} yet and may also have been charged: price unknown.`;
  const more = unpriced === 0 ? '' : `, and ${unpriced} at an unknown price,`;
  return `${which} yet: ${amountWords(amount, currency)}${more} may also have been charged.`;
}

function unprovenWords({ count: all, amount, unpriced }: Tally, currency: string): string {
  const which = all === 1 ? '1 order was' : `${count(all, 'order')} were`;
  const closed = `${which} closed as not carried out, without proof`;
  if (unpriced === all) return `${closed}: price unknown, not counted.`;
  const more = unpriced === 0 ? '' : `, and ${unpriced} at an unknown price,`;
  return `${closed}: ${amountWords(amount, currency)}${more} not counted.`;
}

function amountWords(amount: Parameters<typeof describeMoney>[0], currency: string): string {
  return escapeText(describeMoney(amount, currency));
}
