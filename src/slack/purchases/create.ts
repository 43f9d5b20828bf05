import type { ModalView } from '@slack/types';
import { z } from 'zod';
import { mayChooseChannel } from '../../app/purchases/choose-channel.ts';
import { confirmPurchase } from '../../app/purchases/confirm-purchase.ts';
import { findWrongChoices, openCreate, reviewCreate } from '../../app/purchases/review-purchase.ts';
import type { Order } from '../../domain/catalog.ts';
import { money } from '../../domain/money.ts';
import { defineCommand, type Suggestions } from '../kit/command.ts';
import { defineForm, loadingView } from '../kit/form.ts';
import { LIMITS } from '../kit/limits.ts';
import type { SubmitAnswer } from '../kit/modal.ts';
import type { Origin } from '../kit/origin.ts';
import type { SlackRequest } from '../transport/request.ts';
import { createBackButton, createButton, createReviewButton, orderValue } from './buttons.ts';
import { CHOICES, type Choice, resolveKeys, searchChoices } from './choice-options.ts';
import { CREATE_TITLE, choicesView, createChoices } from './create-choices.ts';
import { createReview, createReviewView } from './create-review.ts';
import { ORDER_OPTIONS, parseOrderWords } from './order-words.ts';
import { pay } from './pay.ts';

const chosen = z.object({
  plan: z.string().exactOptional(),
  location: z.string().exactOptional(),
  image: z.string().exactOptional(),
  label: z.string().exactOptional(),
});

const form = defineForm({
  id: 'create',
  title: CREATE_TITLE,
  input: chosen,
  needs: openCreate,
  load: (input, request, origin) => loadForm(input, request, origin),
});

export const create = defineCommand({
  name: 'create',
  usage: 'create [plan=…] [location=…] [image=…] [label=…]',
  summary: 'Create a server',
  needs: 'manager',
  options: ORDER_OPTIONS,
  parse: parseOrderWords,
  run: (input, request) => form.open(input, request),
  actions: [
    form.handler,
    createButton.on((input, request) => form.open(input, request)),
    createReviewButton.on((input, request) => form.open(input, request)),
    createBackButton.on(goBack),
  ],
  modals: [
    createChoices.onSubmit(openCreate, async ({ fields, origin, viewId }, request) => {
      const { channel: channelId, ...order } = fields;
      if (!origin.isHome || channelId === undefined)
        return showSoon(loadForm(order, request, withoutChannel(origin)), viewId, request);
      if (!(await request.execute(mayChooseChannel, { channelId })))
        return { with: { errors: { channel: NOT_A_MEMBER } } };
      return showSoon(loadForm(order, request, { ...origin, channelId }), viewId, request);
    }),
    createReview.onSubmit(confirmPurchase, async ({ metadata, origin, viewId }, request) => {
      const { order, price, namesakeIds } = metadata;
      const shown = namesakeIds.length > 0 ? { namesakeIds } : {};
      const purchase = { kind: 'create' as const, order, ...shown };
      const confirmation = { id: origin.formId, purchase, price: money(price) };
      return pay(confirmation, CREATE_TITLE, viewId, request);
    }),
  ],
  suggestions: CHOICES.map(suggest),
});

const NOT_A_MEMBER =
  'Slack didn’t confirm that you’re in this channel. Choose another one, or leave it empty. In a private channel, invite the app first.';

/** Going back from the review, the user may have emptied the field. */
function withoutChannel(origin: Origin): Origin {
  if (!origin.isHome || !origin.channelId || origin.channelId.startsWith('D')) return origin;
  const { channelId: _chosen, ...rest } = origin;
  return rest;
}

/** The review if everything is chosen and in the catalog; otherwise the form, which says what isn't. */
async function loadForm(input: Partial<Order>, request: SlackRequest, origin: Origin): Promise<ModalView> {
  const catalog = await request.execute(openCreate, {});
  const resolved = resolveKeys(input, catalog);
  const refusals = findWrongChoices(resolved.chosen, catalog);
  const wrong = [...resolved.wrong, ...refusals.map((refusal) => request.explain(refusal))];
  const complete = orderValue.safeParse(resolved.chosen);
  if (!complete.success || wrong.length > 0)
    return choicesView(catalog, resolved.chosen, origin, request.currency, wrong);
  const reviewed = await request.execute(reviewCreate, { order: complete.data });
  return createReviewView(reviewed, origin, request.currency);
}

/** Shows the choices again, as they were made. The form keeps its ID: it still pays once at most. */
async function goBack(input: Order, request: SlackRequest): Promise<void> {
  const { modal } = request;
  if (!modal) return form.open(input, request);
  const catalog = await request.execute(openCreate, {});
  const { chosen: order, wrong } = resolveKeys(input, catalog);
  const view = choicesView(catalog, order, modal.origin, request.currency, wrong);
  await request.views.update(modal.viewId, view);
}

/** Answers with the view when the catalog is at hand; otherwise with a loading view that it replaces. */
async function showSoon(
  loading: Promise<ModalView>,
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
      return searchChoices(catalog, field, request.currency, typed).slice(0, LIMITS.options);
    },
  };
}
