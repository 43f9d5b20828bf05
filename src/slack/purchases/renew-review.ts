import type { KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import type { RenewReview } from '../../app/purchases/review-purchase.ts';
import { describePlan } from '../../domain/catalog.ts';
import { freezeLabel } from '../../domain/label.ts';
import { describeMoney } from '../../domain/money.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { context, facts, section } from '../kit/blocks.ts';
import { defineModal } from '../kit/modal.ts';
import type { Origin } from '../kit/origin.ts';
import { codeLabel, codeTyped, escapeText } from '../kit/text.ts';
import { describePaidUntil } from '../servers/server-card.ts';
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
    metadata: omitUndefined({
      serverId: server.id,
      label: freezeLabel(server.label),
      paidUntil,
      price: plan?.monthly,
    }),
    title: RENEW_TITLE,
    submit: 'Renew and pay',
    blocks: reviewBlocks(review, currency, now),
  });
}

function reviewBlocks({ server, plan, terms }: RenewReview, currency: string, now: number): KnownBlock[] {
  const price = plan
    ? `*${escapeText(describeMoney(plan.monthly, currency))}* for one more month, now, from the account’s balance.`
    : 'One more month is paid now from the account’s balance. *Its price is not known here*: the API does not say what an existing server costs, and it was not created with this app, or its plan is gone.';
  return [
    section(price),
    facts([
      ['Server', codeLabel(server.label)],
      ['Id', String(server.id)],
      ['Paid until', describePaidUntil(server, now)],
      ...(plan ? [['Plan', `${codeTyped(plan.code)} ${describePlan(plan)}`] as const] : []),
    ]),
    ...termsBlocks(terms, plan !== undefined, currency),
    context('A paid month is not refunded. Two people who renew the same month pay for it once.'),
  ];
}
