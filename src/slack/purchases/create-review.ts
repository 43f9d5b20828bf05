import type { KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import type { CreateReview } from '../../app/purchases/review-purchase.ts';
import { describePlan } from '../../domain/catalog.ts';
import { describeMoney } from '../../domain/money.ts';
import { actions, context, facts, section } from '../kit/blocks.ts';
import { defineModal } from '../kit/modal.ts';
import type { Origin } from '../kit/origin.ts';
import { codeLabel, describeNumber, escapeText } from '../kit/text.ts';
import { createBackButton, orderValue } from './buttons.ts';
import { toKeys } from './choice-options.ts';
import { termsBlocks } from './terms.ts';

/** The price; submitting pays, or requests another manager's approval. */
export const createReview = defineModal(
  'create_review',
  z.object({
    order: orderValue,
    price: z.number().int(),
    /** Absent in forms that an older version opened. */
    namesakeIds: z.array(z.number().int()).default([]),
  }),
  z.object({}),
);

/** What is ordered and what it costs, before it is paid. */
export function createReviewView(review: CreateReview, origin: Origin, currency: string): ModalView {
  return createReview.view({
    origin,
    metadata: { order: review.order, price: review.plan.monthly, namesakeIds: [...review.namesakeIds] },
    title: review.terms.takesApproval ? 'Review your order' : 'Review and pay',
    submit: review.terms.takesApproval ? 'Request approval' : 'Create and pay',
    blocks: reviewBlocks(review, currency),
  });
}

function reviewBlocks({ order, plan, namesakeIds, terms }: CreateReview, currency: string): KnownBlock[] {
  const price = escapeText(describeMoney(plan.monthly, plan.currency ?? currency));
  const charged = terms.takesApproval ? 'once it is approved' : 'now';
  return [
    ...(namesakeIds.length > 0 ? [section(namesakeWords(namesakeIds.length, order.label))] : []),
    section(`*${price} per month.* The first month is charged to the account balance ${charged}.`),
    facts([
      ['Label', codeLabel(order.label, LABEL_SHOWN)],
      ['Plan', `${wholeCode(plan.code)} ${describePlan(plan)}`],
      ['Location', wholeCode(order.location)],
      ['Image', wholeCode(order.image)],
    ]),
    ...termsBlocks(terms, true, currency),
    context(
      'Paid months aren’t refunded, even if you delete the server. Only you will see the root password.',
    ),
    actions(createBackButton.element('Back', toKeys(order))),
  ];
}

/** The warning for users who confirm or approve a create. */
export function namesakeWords(count: number, label: string): string {
  const are = count === 1 ? 'There’s already a server' : `There are already ${describeNumber(count)} servers`;
  return `:warning: ${are} called ${codeLabel(label)}.`;
}

/** Longer than any label or code that can be ordered: what is paid for is shown whole. */
const LABEL_SHOWN = 350;

function wholeCode(code: string): string {
  return codeLabel(code, Number.POSITIVE_INFINITY);
}
