import type { KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import type { RenewalsReview } from '../../app/reminders/review-renewals.ts';
import { describeMoney } from '../../domain/money.ts';
import { context, section } from '../kit/blocks.ts';
import { defineModal } from '../kit/modal.ts';
import type { Origin } from '../kit/origin.ts';
import { count, escapeText, slackDate } from '../kit/text.ts';
import { termsBlocks } from '../purchases/terms.ts';
import { digestLabel } from './due-words.ts';
import { splitLines } from './many.ts';

export const RENEW_ALL_TITLE = 'Renew all';

/** Submitting pays for what is stored under the form's ID: a form can't carry so many servers. */
export const renewAllReview = defineModal('renew_all', z.object({}), z.object({}));

/** 25 servers with the longest labels. */
const ROOM = { sections: 6, characters: 2800 };

/** Every server with its price, as far as it is known, and one total. */
export function renewAllView(review: RenewalsReview, origin: Origin, currency: string): ModalView {
  return renewAllReview.view({
    origin,
    metadata: {},
    title: RENEW_ALL_TITLE,
    submit: review.terms.takesApproval ? 'Request approval' : 'Renew and pay',
    blocks: reviewBlocks(review, currency),
  });
}

function reviewBlocks(review: RenewalsReview, currency: string): KnownBlock[] {
  const { renewals, unknown, omitted, terms } = review;
  const lines = renewals.map(({ server, price }) => {
    const cost = price === undefined ? 'price unknown' : escapeText(describeMoney(price, currency));
    return `• ${digestLabel(server.label)} · paid until ${slackDate(server.paidUntil)} · *${cost}*`;
  });
  return [
    section(totalWords(review, currency)),
    ...splitLines(lines, ROOM).sections.map((text) => section(text)),
    ...(omitted > 0
      ? [
          context(
            `${count(omitted, 'more server')} can be renewed afterwards: these are the most urgent ones.`,
          ),
        ]
      : []),
    ...termsBlocks(terms, true, currency),
    ...(terms.budget && unknown.length > 0
      ? [context('Renewals whose price we don’t know don’t count toward the budget.')]
      : []),
    context(
      'Servers are renewed one at a time. Paid months aren’t refunded. If someone else renews one of them first, you aren’t charged for it.',
    ),
  ];
}

function totalWords({ renewals, known, unknown, terms }: RenewalsReview, currency: string): string {
  const charged = terms.takesApproval ? ' once it is approved' : '';
  const amount = escapeText(describeMoney(known, currency));
  const total =
    unknown.length === renewals.length
      ? '*We don’t know the price* of any of them.'
      : unknown.length === 0
        ? `Total: *${amount}*, at the catalog prices of their plans.`
        : `Total: *${amount}*, and *the unknown price of ${count(unknown.length, 'server')}*.`;
  return `One more month for *${count(renewals.length, 'server')}* will be charged to the account balance${charged}. ${total}`;
}
