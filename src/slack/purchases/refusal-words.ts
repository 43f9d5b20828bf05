import { describeMonthly } from '../../domain/money.ts';
import { PART_OF_LIST } from '../../domain/part-of-list.ts';
import type { RefusalWords } from '../kit/refusal-words.ts';
import { codeLabel, codeTyped, escapeText, slackDate } from '../kit/text.ts';
import { budgetWords } from './budget-words.ts';

/** What the refusals of purchases say. */
export const purchaseRefusalWords = {
  unknown_choice: ({ field, typed, nearest }) =>
    `There’s no ${field} called ${codeTyped(typed)}.${nearest === undefined ? '' : ` Did you mean ${codeTyped(nearest)}?`}`,
  bad_label: ({ problem }) => `This label can’t be used: ${problem}.`,
  price_moved: ({ before, now }, currency) =>
    `The price changed from ${escapeText(describeMonthly(before, currency))} to ${escapeText(describeMonthly(now, currency))} since you looked. Nothing was ordered or charged.`,
  already_renewed: ({ label, paidUntil }) =>
    `${codeLabel(label)} was renewed since you looked and is now paid until ${slackDate(paidUntil)}. Nothing more was charged.`,
  paid_until_unknown: ({ label }) =>
    `The hosting API doesn’t report when the paid time of ${codeLabel(label)} ends, so we couldn’t verify a renewal. Nothing was charged. Renew ${codeLabel(label)} on the hosting account’s page.`,
  create_in_doubt: ({ label }) =>
    `An earlier order for ${codeLabel(label)} is still unconfirmed. Nothing more was ordered. Wait for its result, or choose another label.`,
  create_in_doubt_elsewhere: ({ label }) =>
    `An order for ${codeLabel(label)} from another workspace on the same hosting account is still unconfirmed. Nothing more was ordered. Choose another label, or try again when it’s resolved there.`,
  label_taken: ({ label }) =>
    `A server called ${codeLabel(label)} has appeared since you reviewed the order. Nothing was ordered or charged. Review it again if you want another one.`,
  renewed_elsewhere: ({ label }) =>
    `This month of ${codeLabel(label)} was already ordered from another workspace on the same hosting account. Nothing more was charged.`,
  list_incomplete: () => `${PART_OF_LIST} Nothing was ordered or charged. Try again later.`,
  order_unsaved: ({ isDatabaseAway = false }) =>
    `We couldn’t save your order’s status. It may still go through; don’t order again. ${isDatabaseAway ? 'The app can’t reach its database right now; in a few minutes, `/vps status` shows unconfirmed orders.' : '`/vps status` shows unconfirmed orders.'}`,
  stale_confirmation: () => 'This confirmation has expired. Nothing was ordered or charged.',
  restored: () =>
    'The app’s database was restored from a backup after you opened this form, so we can’t tell whether it was already confirmed. Nothing was ordered now. Check the hosting account’s page before you order again.',
  account_changed: () =>
    'The hosting account was reconnected after you confirmed, so nothing was ordered or charged.',
  label_moved: ({ before, now }) =>
    `The server is now called ${codeLabel(now)} instead of ${codeLabel(before)}. Nothing was charged.`,
  doubt_over: () => 'This order has been resolved, so there’s nothing left to decide.',
  over_budget: (details, currency) =>
    `${budgetWords(details, currency)} Nothing was ordered or charged. An owner can change the budget with \`/vps settings\`.`,
  no_password: ({ label }) =>
    `There’s no stored root password${label ? ` for ${codeLabel(label)}` : ''}: it was saved or erased, it expired, or it was never stored. The hosting API can’t show it again.`,
  not_creator: ({ label }) =>
    `Only the person who created ${codeLabel(label)} can see or erase its root password.`,
} satisfies Partial<RefusalWords>;
