import { z } from 'zod';
import { confirmPurchase } from '../../app/purchases/confirm-purchase.ts';
import { reviewRenew } from '../../app/purchases/review-purchase.ts';
import { money } from '../../domain/money.ts';
import { defineCommand, parseServerName } from '../kit/command.ts';
import { defineForm } from '../kit/form.ts';
import { chooseUnnamed } from '../servers/pick-server.ts';
import { renewButton } from './buttons.ts';
import { pay } from './pay.ts';
import { RENEW_TITLE, renewReview, renewReviewView } from './renew-review.ts';

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
      return pay(confirmation, RENEW_TITLE, viewId, request);
    }),
  ],
});
