import type { ModalView } from '@slack/types';
import { z } from 'zod';
import { describePlan, type Plan } from '../core/catalog.ts';
import { defineUseCase } from '../core/entry.ts';
import { Refusal } from '../core/errors.ts';
import { describeMoney, money } from '../core/money.ts';
import type { Server } from '../core/server.ts';
import { chooseUnnamed, getServer, type ServerRef } from '../servers/find.ts';
import { describePaidUntil } from '../servers/words.ts';
import { context, facts, section } from '../slack/kit/blocks.ts';
import { defineCommand, parseServerName } from '../slack/kit/command.ts';
import { defineForm, type Origin } from '../slack/kit/form.ts';
import { defineModal } from '../slack/kit/modal.ts';
import { codeLabel, escapeText } from '../slack/kit/text.ts';
import { renewButton } from './catalog.ts';
import { confirmInForm, confirmPurchase, readTerms, type Terms, termsBlocks } from './confirm.ts';
import { findPlanOf } from './costs.ts';

const RENEW_TITLE = 'Renew a server';

interface RenewReview {
  readonly server: Server;
  readonly paidUntil: number;
  /**
   * The plan that was ordered with this app, as the catalog shows it today. Its price is a quote, not a fact: the API's
   * record has no plan and no price, and the document does not say that a renewal costs what the catalog says
   * (docs/hosting-api.md 2.8). Absent for servers that were not created with this app, and for plans that are gone.
   */
  readonly plan?: Plan;
  readonly terms: Terms;
}

/** @throws Refusal `paid_until_unknown` when a list could not show afterwards whether it had happened */
const reviewRenew = defineUseCase({
  name: 'renew',
  needs: 'manager',
  effect: 'reads',
  run: async (input: { ref: ServerRef }, context): Promise<RenewReview> => {
    const server = await getServer(input.ref, context, { freshness: 'fresh' });
    if (server.paidUntil === undefined) throw new Refusal('paid_until_unknown', { label: server.label });
    const plan = await findPlanOf(server, context);
    const terms = await readTerms('renew', plan?.monthly, context);
    return { server, paidUntil: server.paidUntil, terms, plan };
  },
});

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
  { server, paidUntil, plan, terms }: RenewReview,
  origin: Origin,
  currency: string,
  now: number,
): ModalView {
  const charged = terms.takesApproval ? ' once the renewal is approved' : '';
  // The API reports no server's price: the catalog's is what a new order of that plan would cost.
  const price = plan
    ? `*${escapeText(describeMoney(plan.monthly, plan.currency ?? currency))}* is today’s price of the ${codeLabel(plan.code)} plan that it was ordered with.`
    : '*We don’t know the price*: the hosting API doesn’t report it. We know it only for servers ordered in this workspace whose plan is still in the catalog.';
  return renewReview.view({
    origin,
    metadata: {
      serverId: server.id,
      label: server.label,
      paidUntil,
      price: plan?.monthly,
    },
    title: RENEW_TITLE,
    submit: terms.takesApproval ? 'Request approval' : 'Renew and pay',
    blocks: [
      section(`One more month is charged to the account balance${charged}. ${price}`),
      facts([
        ['Server', codeLabel(server.label)],
        ['ID', String(server.id)],
        ['Paid until', describePaidUntil(server, now)],
        [
          'After the renewal',
          'One more month. The hosting API sets the exact date; you’ll see it once it’s paid.',
        ],
        ...(plan ? [['Plan', `${codeLabel(plan.code)} ${describePlan(plan)}`] as const] : []),
      ]),
      ...termsBlocks(terms, plan !== undefined, currency),
      context('Paid months aren’t refunded. If two people renew at once, you’re charged only once.'),
    ],
  });
}

const form = defineForm({
  id: 'renew',
  title: RENEW_TITLE,
  input: z.union([z.object({ typed: z.string() }), z.object({ id: z.number().int() })]),
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
      return confirmInForm(confirmation, viewId, request);
    }),
  ],
});
