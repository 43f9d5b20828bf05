import type { KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import type { RenewReview } from '../../app/purchases/review-purchase.ts';
import { describePlan } from '../../domain/catalog.ts';
import { freezeLabel } from '../../domain/label.ts';
import { describeMoney } from '../../domain/money.ts';
import { context, facts, section } from '../kit/blocks.ts';
import { defineModal } from '../kit/modal.ts';
import type { Origin } from '../kit/origin.ts';
import { codeLabel, codeTyped, escapeText } from '../kit/text.ts';
import { describePaidUntil } from '../servers/describe-server.ts';
import { termsBlocks } from './terms.ts';

export const RENEW_TITLE = 'Renew a server';

/** What is known of the price; submitting pays. The `paidUntil` that was seen makes the presses of two users one payment. */
export const renewReview = defineModal(
  'renew_review',
  z.object({
    serverId: z.number().int(),
    label: z.string(),
    paidUntil: z.number(),
    price: z.number().int().exactOptional(),
  }),
  z.object({}),
);

/** What a renewal pays, as far as that is known. */
export function renewReviewView(
  review: RenewReview,
  origin: Origin,
  currency: string,
  now: number,
): ModalView {
  const { server, paidUntil, plan } = review;
  return renewReview.view({
    origin,
    metadata: {
      serverId: server.id,
      label: freezeLabel(server.label),
      paidUntil,
      price: plan?.monthly,
    },
    title: RENEW_TITLE,
    submit: review.terms.takesApproval ? 'Request approval' : 'Renew and pay',
    blocks: reviewBlocks(review, currency, now),
  });
}

function reviewBlocks({ server, plan, terms }: RenewReview, currency: string, now: number): KnownBlock[] {
  const charged = terms.takesApproval ? ' once it is approved' : '';
  // The API reports no server's price: the catalog's is what a new order of that plan would cost.
  const price = plan
    ? `*${escapeText(describeMoney(plan.monthly, plan.currency ?? currency))}* is the catalog price of the plan you ordered with this app.`
    : '*We don’t know the price*: the hosting API doesn’t report it. The app knows it only for servers created with it whose plan is still in the catalog.';
  return [
    section(`One more month will be charged to the account balance${charged}. ${price}`),
    facts([
      ['Server', codeLabel(server.label)],
      ['ID', String(server.id)],
      ['Paid until', describePaidUntil(server, now)],
      [
        'After the renewal',
        'One more month. The hosting API sets the exact date; you’ll see it once it’s paid.',
      ],
      ...(plan ? [['Plan', `${codeTyped(plan.code)} ${describePlan(plan)}`] as const] : []),
    ]),
    ...termsBlocks(terms, plan !== undefined, currency),
    context('Paid months aren’t refunded. If two people renew at once, you’re charged only once.'),
  ];
}
