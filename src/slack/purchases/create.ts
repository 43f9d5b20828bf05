import { z } from 'zod';
import { confirmPurchase } from '../../app/purchases/confirm-purchase.ts';
import { findWrongChoices, openCreate, reviewCreate } from '../../app/purchases/review-purchase.ts';
import type { Order } from '../../domain/catalog.ts';
import { money } from '../../domain/money.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { defineCommand, type Suggestions } from '../kit/command.ts';
import { defineForm, loadingView } from '../kit/form.ts';
import type { SubmitAnswer } from '../kit/modal.ts';
import type { Origin } from '../kit/origin.ts';
import type { SlackRequest } from '../transport/request.ts';
import { createButton, createReviewButton } from './buttons.ts';
import {
  CHOICES,
  type Choice,
  CREATE_TITLE,
  choicesView,
  createChoices,
  listChoices,
} from './create-choices.ts';
import { createReview, createReviewView } from './create-review.ts';
import { pay } from './pay.ts';

const chosen = z.object({
  plan: z.string().exactOptional(),
  location: z.string().exactOptional(),
  image: z.string().exactOptional(),
  label: z.string().exactOptional(),
});
const order = z.object({ plan: z.string(), location: z.string(), image: z.string(), label: z.string() });

const form = defineForm({
  id: 'create',
  title: CREATE_TITLE,
  input: chosen,
  needs: openCreate,
  load: async (input, request, origin) => {
    const catalog = await request.execute(openCreate, {});
    const wrong = findWrongChoices(input, catalog).map((refusal) => request.explain(refusal));
    const complete = order.safeParse(input);
    if (complete.success && wrong.length === 0) return loadReview(complete.data, request, origin);
    return choicesView(catalog, input, origin, request.currency, wrong);
  },
});

export const create = defineCommand({
  name: 'create',
  usage: 'create [plan=…] [location=…] [image=…] [label=…]',
  summary: 'Creates a server: choices, then the price, then the root password',
  needs: 'manager',
  options: ['plan', 'location', 'image', 'label'],
  parse: ({ words: [label, ...more], options }) => {
    if (more.length > 0) return 'A label with blanks in it goes into quotes: label="web 1".';
    return { ...omitUndefined({ label }), ...options };
  },
  run: (input, request) => form.open(input, request),
  actions: [
    form.handler,
    createButton.on((input, request) => form.open(input, request)),
    createReviewButton.on((input, request) => form.open(input, request)),
  ],
  modals: [
    createChoices.onSubmit(openCreate, async ({ fields, origin, viewId }, request) => {
      const loading = loadReview(fields, request, origin);
      return showSoon(loading, viewId, request);
    }),
    createReview.onSubmit(confirmPurchase, async ({ metadata, origin, viewId }, request) => {
      const purchase = { kind: 'create' as const, order: metadata.order };
      return pay(
        { id: origin.formId, purchase, price: money(metadata.price) },
        CREATE_TITLE,
        viewId,
        request,
      );
    }),
  ],
  suggestions: CHOICES.map(suggest),
});

async function loadReview(wanted: Order, request: SlackRequest, origin: Origin) {
  const reviewed = await request.execute(reviewCreate, { order: wanted });
  return createReviewView(reviewed, origin, request.currency);
}

/** Answers with the review when the catalog is at hand; otherwise with a loading view that it replaces. */
async function showSoon(
  loading: ReturnType<typeof loadReview>,
  viewId: string,
  request: SlackRequest,
): Promise<SubmitAnswer> {
  const view = await request.withTimeout(loading);
  if (view !== undefined) return { with: view };
  return {
    with: loadingView(CREATE_TITLE, 'Reading the price…'),
    after: async () => {
      await request.views.update(viewId, await loading);
    },
  };
}

function suggest(field: Choice): Suggestions {
  return {
    id: `${createChoices.id}.${field}`,
    find: async (typed, request) => {
      const catalog = await request.execute(openCreate, {});
      const wanted = typed.trim().toLowerCase();
      return listChoices(catalog, field, request.currency)
        .filter(({ text, value }) => `${text.text} ${value}`.toLowerCase().includes(wanted))
        .slice(0, 100);
    },
  };
}
