import { describeMoney } from '../../domain/money.ts';
import type { RefusalWords } from '../kit/refusal-words.ts';
import { codeLabel, codeTyped, slackDate } from '../kit/text.ts';

/** What the refusals of purchases say. */
export const purchaseRefusalWords = {
  unknown_choice: ({ field, typed, nearest }) =>
    `There is no ${field} ${codeTyped(typed)} in the catalog now.${nearest === undefined ? '' : ` Did you mean ${codeTyped(nearest)}?`}`,
  bad_label: ({ problem }) => `This label can’t be used: ${problem}.`,
  price_moved: ({ before, now }, currency) =>
    `The price has changed from ${describeMoney(before, currency)} to ${describeMoney(now, currency)} a month since you looked. Nothing was ordered and nothing was charged.`,
  already_renewed: ({ label, paidUntil }) =>
    `${codeLabel(label)} is paid until ${slackDate(paidUntil)} now: it was renewed since you looked. Nothing more was charged.`,
  paid_until_unknown: ({ label }) =>
    `The hosting API does not say until when ${codeLabel(label)} is paid, so nobody could tell afterwards whether a renewal had worked. Nothing was charged; renew it on the account page.`,
  create_in_doubt: ({ label }) =>
    `An earlier order of ${codeLabel(label)} is still in doubt. Nothing more was ordered: wait for its outcome, or choose another label.`,
  stale_confirmation: () =>
    'This confirmation was too old to be carried out. Nothing was ordered and nothing was charged.',
  account_changed: () =>
    'The hosting account was connected anew after this was confirmed, and it may be another one. Nothing was sent and nothing was charged.',
  label_moved: ({ before, now }) =>
    `The server has another label now: ${codeLabel(now)} instead of ${codeLabel(before)}. Nothing was charged.`,
  doubt_over: () => 'There is nothing to decide any more: this has been settled meanwhile.',
  over_budget: ({ whose, spent, most, price }, currency) =>
    `That is more than the ${whose === 'person' ? 'budget of each person' : 'budget of this workspace'} allows: ${describeMoney(spent, currency)} of ${describeMoney(most, currency)} was spent this month, and ${price === undefined ? 'the price of this is not known here' : `this costs ${describeMoney(price, currency)}`}. Only what was paid with this app counts. Nothing was ordered and nothing was charged; an owner can change it with \`/vps settings\`.`,
  no_password: ({ label }) =>
    `No root password is held${label ? ` for ${codeLabel(label)}` : ''}. It is kept only for a while, and erased once it was saved; the hosting API never shows it again.`,
  not_creator: ({ label }) =>
    `Only the person who created ${codeLabel(label)} can see its root password, or erase it.`,
} satisfies Partial<RefusalWords>;
