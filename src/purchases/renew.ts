import type { KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import { describePlan } from '../core/catalog.ts';
import { freezeLabel } from '../core/labels.ts';
import { describeMoney, money } from '../core/money.ts';
import { requestedView } from '../requests/approval-card.ts';
import { chooseUnnamed } from '../servers/find.ts';
import { describePaidUntil } from '../servers/words.ts';
import { context, facts, section } from '../slack/kit/blocks.ts';
import { defineCommand, parseServerName } from '../slack/kit/command.ts';
import { defineForm, noticeView, type Origin } from '../slack/kit/form.ts';
import { defineModal, type SubmitAnswer } from '../slack/kit/modal.ts';
import { codeLabel, codeTyped, escapeText } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import { renewButton, termsBlocks } from './catalog.ts';
import { type Confirmation, confirmPurchase, type RenewReview, reviewRenew } from './confirm.ts';
import { outcomeTitle, outcomeWords, progressWords } from './outcomes.ts';

const CLOSE = 'You can close this window. We’ll message you the result.';

/**
 * Takes the press of **Create and pay** or **Renew and pay**: written durably, then acknowledged, then sent, or left to another
 * manager's approval.
 * Money effect: pays once for one operation; a second press shows what has become of the first one.
 */
export async function confirmInForm(
  confirmation: Confirmation,
  title: string,
  viewId: string,
  request: SlackRequest,
): Promise<SubmitAnswer> {
  // Before it is confirmed: the outcome may come as soon as it is.
  request.views.follow(confirmation.id, viewId);
  const confirmed = await request.execute(confirmPurchase, confirmation);
  const { userId } = request.caller.actor;
  if (confirmed.kind === 'waiting') return { with: requestedView(confirmed, confirmation.id, userId) };
  const { operation } = confirmed;
  if (!confirmed.isNew) {
    const first =
      operation.id === confirmation.id ? 'Already confirmed.' : 'Someone else already confirmed this.';
    const words = [`${first} You won’t be charged twice.`, outcomeWords(operation, request)];
    return { with: noticeView(outcomeTitle(operation), ...words) };
  }
  return { with: noticeView(title, progressWords(operation), CLOSE) };
}

const RENEW_TITLE = 'Renew a server';

/** What is known of the price; submitting pays. The `paidUntil` that was seen makes the presses of two users one payment. */
const renewReview = defineModal(
  'renew_review',
  z.object({
    serverId: z.number().int(),
    label: z.string(),
    paidUntil: z.number(),
    price: z.number().int().exactOptional(),
  }),
  z.object({}),
);

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
  const charged = terms.takesApproval ? ' once the renewal is approved' : '';
  // The API reports no server's price: the catalog's is what a new order of that plan would cost.
  const price = plan
    ? `*${escapeText(describeMoney(plan.monthly, plan.currency ?? currency))}* is today’s price of the ${codeTyped(plan.code)} plan that it was ordered with.`
    : '*We don’t know the price*: the hosting API doesn’t report it. We know it only for servers ordered in this workspace whose plan is still in the catalog.';
  return [
    section(`One more month is charged to the account balance${charged}. ${price}`),
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

const ref = z.union([z.object({ typed: z.string() }), z.object({ id: z.number().int() })]);

const form = defineForm({
  id: 'renew',
  title: RENEW_TITLE,
  input: ref,
  needs: reviewRenew,
  pick: (id) => ({ id }),
  choose: (input, request) => chooseUnnamed('renew', input, request),
  load: async (input, request, origin) => {
    const reviewed = await request.execute(reviewRenew, { ref: input });
    return renewReviewView(reviewed, origin, request.currency, request.now());
  },
});

export const renew = defineCommand({
  name: 'renew',
  usage: 'renew [server]',
  example: 'renew web-1',
  summary: 'Renew a server for a month',
  needs: 'manager',
  parse: parseServerName,
  run: (input, request) => form.open(input, request),
  actions: [form.handler, renewButton.on(({ id }, request) => form.open({ id }, request))],
  suggestions: [form.pickSuggestions],
  modals: [
    form.pickHandler,
    renewReview.onSubmit(confirmPurchase, async ({ metadata, origin, viewId }, request) => {
      const { price: hundredths, ...renewal } = metadata;
      const purchase = { kind: 'renew' as const, ...renewal };
      const price = hundredths === undefined ? undefined : money(hundredths);
      const confirmation = { id: origin.formId, purchase, price };
      return confirmInForm(confirmation, RENEW_TITLE, viewId, request);
    }),
  ],
});
