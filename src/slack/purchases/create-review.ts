import type { KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import type { CreateReview } from '../../app/purchases/review-purchase.ts';
import { describePlan } from '../../domain/catalog.ts';
import { describeMoney } from '../../domain/money.ts';
import { alert, context, facts, section } from '../kit/blocks.ts';
import { defineModal } from '../kit/modal.ts';
import type { Origin } from '../kit/origin.ts';
import { codeLabel, codeTyped, escapeText } from '../kit/text.ts';
import { termsBlocks } from './terms.ts';

const order = z.object({ plan: z.string(), location: z.string(), image: z.string(), label: z.string() });

/** The price; submitting pays. */
export const createReview = defineModal(
  'create_review',
  z.object({ order, price: z.number().int() }),
  z.object({}),
);

/** What is ordered and what it costs, before it is paid. */
export function createReviewView(review: CreateReview, origin: Origin, currency: string): ModalView {
  return createReview.view({
    origin,
    metadata: { order: review.order, price: review.plan.monthly },
    title: 'Review and pay',
    submit: 'Create and pay',
    blocks: reviewBlocks(review, currency),
  });
}

function reviewBlocks({ order, plan, namesake, terms }: CreateReview, currency: string): KnownBlock[] {
  const price = describeMoney(plan.monthly, currency);
  return [
    ...(namesake ? [alert(`There is a server ${codeLabel(namesake.label, 30)} already.`)] : []),
    section(`*${escapeText(price)}* a month, the first month now, from the account’s balance.`),
    facts([
      ['Label', codeLabel(order.label)],
      ['Plan', `${codeTyped(plan.code)} ${describePlan(plan)}`],
      ['Location', codeTyped(order.location)],
      ['Image', codeTyped(order.image)],
    ]),
    ...termsBlocks(terms, true, currency),
    context(
      `A paid month is not refunded, also when the server is deleted.${currency ? '' : ' The API does not name the currency.'} The root password is shown once, to you only.`,
    ),
  ];
}
