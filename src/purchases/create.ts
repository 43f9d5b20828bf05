import type { ModalView } from '@slack/types';
import { z } from 'zod';
import { refuseFrozen } from '../account/workspaces.ts';
import { type Catalog, describePlan, findPlan, type Order, type Plan } from '../core/catalog.ts';
import { defineUseCase, type UseCaseContext } from '../core/entry.ts';
import { Refusal } from '../core/errors.ts';
import type { ChannelId, ServerId, UserId } from '../core/ids.ts';
import { findNearest, isSameLabel, LABEL_MAX_CHARACTERS, parseLabel } from '../core/labels.ts';
import { describeMoney, money } from '../core/money.ts';
import { actions, context, facts, LIMITS, section } from '../slack/kit/blocks.ts';
import { defineButton } from '../slack/kit/button.ts';
import { defineCommand, type Suggestions, type TypedWords } from '../slack/kit/command.ts';
import { defineForm, loadingView, noticeView, type Origin } from '../slack/kit/form.ts';
import { defineModal, type SubmitAnswer } from '../slack/kit/modal.ts';
import { capital, codeLabel, escapeText, mention } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import {
  CHOICES,
  type Choice,
  createButton,
  createReviewButton,
  findWrongChoices,
  listChoices,
  listOmissions,
  namesakeWords,
  searchChoices,
} from './catalog.ts';
import { confirmInForm, confirmPurchase, readTerms, type Terms, termsBlocks } from './confirm.ts';
import { labelOf, orderValue, type Purchase } from './operation.ts';
import { listNamesakes } from './send.ts';

/** @throws Refusal `purchases_frozen` */
const openCreate = defineUseCase({
  name: 'create',
  needs: 'manager',
  effect: 'reads',
  run: async (_input: Record<never, never>, context): Promise<Catalog> => {
    refuseFrozen(await context.app.workspaces.readSettings(context.actor.workspaceId));
    const hosting = await context.hosting();
    return hosting.fetchCatalog();
  },
});

const createBackButton = defineButton('create_back', orderValue);

const CREATE_TITLE = 'Create a server';

/** The choices; submitting shows the price. */
const createChoices = defineModal(
  'create',
  z.object({}),
  z.object({
    plan: z.string('Choose a plan'),
    location: z.string('Choose a location'),
    image: z.string('Choose an image'),
    label: z.string('Enter a label').trim().min(1, 'Enter a label'),
    channel: z.string().exactOptional(),
  }),
);

/** The form of a create, filled with what was chosen before; `wrong` says what of it can't be ordered. */
export function choicesView(
  catalog: Catalog,
  input: Partial<Order>,
  origin: Origin,
  currency: string,
  wrong: readonly string[] = [],
): ModalView {
  const omissions = listOmissions(catalog);
  // A menu without a choice makes Slack refuse the whole form.
  const missing = CHOICES.find((field) => listChoices(catalog, field, currency).length === 0);
  if (missing) {
    const words = `Nothing can be ordered right now: the catalog has no ${missing}s.`;
    return noticeView(CREATE_TITLE, words, ...omissions);
  }
  return createChoices.view({
    origin,
    metadata: {},
    title: CREATE_TITLE,
    submit: 'Review',
    blocks: [
      ...wrong.map((words) => section(words)),
      ...CHOICES.map((field) => choiceField(field, catalog, input, currency)),
      createChoices.textField('label', {
        label: 'Label',
        placeholder: 'web-1',
        hint: 'The server’s name. You’ll see the price before you order.',
        maxLength: LABEL_MAX_CHARACTERS,
        initial: input.label?.slice(0, LABEL_MAX_CHARACTERS),
      }),
      ...(origin.isHome ? [channelField(origin)] : []),
      ...omissions.map((words) => context(words)),
    ],
  });
}

/** An order that is made on Home has no channel of its own. */
function channelField({ channelId }: Origin) {
  return createChoices.channelField('channel', {
    label: 'Channel for the result',
    hint: 'You must be a member. Leave empty to get the result in a direct message. Only you will see the root password.',
    excludesShared: true,
    optional: true,
    initial: channelId?.startsWith('D') ? undefined : channelId,
  });
}

function choiceField(name: Choice, catalog: Catalog, input: Partial<Order>, currency: string) {
  const options = listChoices(catalog, name, currency);
  return createChoices.selectField(name, {
    label: capital(name),
    options,
    placeholder: `Choose ${name === 'image' ? 'an' : 'a'} ${name}`,
    initial: input[name],
    hint: options.length > LIMITS.options ? `Type to search all ${options.length} ${name}s.` : undefined,
  });
}

interface CreateReview {
  readonly order: Order;
  readonly plan: Plan;
  /** Servers that already have that label: as far as we know, the API allows it, but it's rarely intended. */
  readonly namesakeIds: readonly ServerId[];
  /** Whose orders and requests for that label aren't in the list of servers yet. */
  readonly orderedBy: readonly UserId[];
  readonly terms: Terms;
}

/** @throws Refusal `unknown_choice`, `bad_label`, `role_needed` when the actor's role is for other labels */
const reviewCreate = defineUseCase({
  name: 'create',
  needs: 'manager',
  effect: 'reads',
  run: async (input: { order: Order }, context): Promise<CreateReview> => {
    const hosting = await context.hosting();
    const [catalog, { servers }] = await Promise.all([hosting.fetchCatalog(), hosting.fetchServers()]);
    const order = { ...input.order, label: parseLabel(input.order.label) };
    await context.requireRoleFor(order.label);
    const [wrong] = findWrongChoices(order, catalog);
    const plan = findPlan(catalog, order.plan);
    if (wrong || !plan) throw wrong ?? new Refusal('unknown_choice', { field: 'plan', typed: order.plan });
    const namesakeIds = listNamesakes(servers, order.label);
    if (namesakeIds.length > MOST_NAMESAKES)
      throw new Refusal('bad_label', { problem: `${namesakeIds.length} servers already have it` });
    const orderedBy = await listOrderers(order.label, context);
    return { order, plan, terms: await readTerms('create', plan.monthly, context), namesakeIds, orderedBy };
  },
});

/** Two people may answer one incident: the second one sees whose server is on its way. */
async function listOrderers(label: string, { actor, app }: UseCaseContext): Promise<readonly UserId[]> {
  const open = await app.ledger.listOpen(actor.workspaceId);
  const asked = await app.requests.listOpen(actor.workspaceId, ['purchase'], app.system.now());
  const isSame = ({ purchase }: { readonly purchase: Purchase }) =>
    purchase.kind === 'create' && isSameLabel(labelOf(purchase), label);
  const orderers = open.filter(isSame).map(({ actorId }) => actorId);
  return [...new Set([...orderers, ...asked.filter(isSame).map(({ requesterId }) => requesterId)])];
}

/** The metadata of a form has no room for more IDs. */
const MOST_NAMESAKES = 20;

/** The price; submitting pays, or requests another manager's approval. */
const createReview = defineModal(
  'create_review',
  z.object({
    order: orderValue,
    price: z.number().int(),
    namesakeIds: z.array(z.number().int()).default([]),
  }),
  z.object({}),
);

export function createReviewView(
  { order, plan, namesakeIds, orderedBy, terms }: CreateReview,
  origin: Origin,
  currency: string,
): ModalView {
  const price = escapeText(describeMoney(plan.monthly, plan.currency ?? currency));
  const charged = terms.takesApproval ? 'once the order is approved' : 'now';
  return createReview.view({
    origin,
    metadata: { order, price: plan.monthly, namesakeIds: [...namesakeIds] },
    title: terms.takesApproval ? 'Review your order' : 'Review and pay',
    submit: terms.takesApproval ? 'Request approval' : 'Create and pay',
    blocks: [
      ...(namesakeIds.length > 0 ? [section(namesakeWords(namesakeIds.length, order.label))] : []),
      ...(orderedBy.length > 0 ? [section(orderedWords(orderedBy, order.label))] : []),
      section(`*${price} per month.* The first month is charged to the account balance ${charged}.`),
      facts([
        ['Label', codeLabel(order.label, LABEL_SHOWN)],
        ['Plan', `${codeLabel(plan.code)} ${describePlan(plan)}`],
        ['Location', codeLabel(order.location)],
        ['Image', codeLabel(order.image)],
      ]),
      ...termsBlocks(terms, true, currency),
      context(
        'Paid months aren’t refunded, even if you delete the server. Only you will see the root password.',
      ),
      actions(createBackButton.element('Back', order)),
    ],
  });
}

function orderedWords(by: readonly UserId[], label: string): string {
  const who = by.slice(0, 3).map(mention).join(', ');
  return `:warning: ${who} already ordered ${codeLabel(label)} or requested approval for it. This order would create another server.`;
}

/** Longer than any label that can be ordered: what is paid for is shown whole. */
const LABEL_SHOWN = 350;

/** What can be typed after `/vps create`, as `key=value`. */
const ORDER_OPTIONS = [...CHOICES, 'label'] as const;

const EXAMPLE = 'For example: /vps create plan=small location=fra image=debian-13 label=web-1';

/**
 * Reads `key=value` in any order, a plan or a label alone, or all four values in the order of the usage. A string says what is wrong:
 * a mistyped option must not silently become a label.
 */
function parseOrderWords({ words, options }: TypedWords): TypedOrder | string {
  const empty = ORDER_OPTIONS.find((name) => options[name]?.trim() === '');
  if (empty) return `“${empty}=” needs a value right after it. ${EXAMPLE}`;
  const unknown = words.find((word) => /^(?:--)?[a-z-]+=/i.test(word));
  if (unknown !== undefined) return describeUnknown(unknown);
  const [first, ...more] = words;
  if (words.length === 4 && Object.keys(options).length === 0) {
    const [location, image, label] = more;
    return { plan: first, location, image, label };
  }
  if (words.length === 0) return options;
  if (words.length === 1 && options.label === undefined) return { word: first, ...options };
  const typed = words.join(' ');
  const label = [options.label, typed].filter((part) => part !== undefined).join(' ');
  return `We didn’t understand “${typed}”. Put quotes around a label with spaces: label="${label}". ${EXAMPLE}`;
}

function describeUnknown(word: string): string {
  const [name = '', ...value] = word.replace(/^--/, '').split('=');
  const nearest = findNearest(name, ORDER_OPTIONS);
  const hint = nearest === undefined ? EXAMPLE : `Did you mean “${nearest}=${value.join('=')}”?`;
  return `There’s no option “${name}”. ${hint}`;
}

/** What was typed of an order. `word`: a plan of the catalog, or a label. */
type TypedOrder = Partial<Order> & { readonly word?: string | undefined };

const form = defineForm({
  id: 'create',
  title: CREATE_TITLE,
  input: orderValue.partial().extend({ word: z.string().optional() }),
  needs: openCreate,
  load: (input, request, origin) => loadForm(input, request, origin),
});

export const create = defineCommand({
  name: 'create',
  usage: 'create [plan=…] [location=…] [image=…] [label=…]',
  example: 'create plan=small label=web-2',
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
      const purchase = { kind: 'create' as const, order, namesakeIds };
      const confirmation = { id: origin.formId, purchase, price: money(price) };
      return confirmInForm(confirmation, viewId, request);
    }),
  ],
  suggestions: CHOICES.map(suggest),
});

/**
 * Whether the outcome of the actor's order may be announced in a channel: only where Slack says that they are a member. From
 * then on, the order is as if it had been made there, with the roles that the channel gives its members; a menu also offers
 * channels that they are not in.
 */
export const mayChooseChannel = defineUseCase({
  name: 'create',
  needs: 'manager',
  effect: 'reads',
  run: async ({ channelId }: { channelId: ChannelId }, { actor, app }): Promise<boolean> =>
    (await app.channels.hasMember(actor.workspaceId, channelId, actor.userId)) === true,
});

const NOT_A_MEMBER =
  'Slack didn’t confirm that you’re in this channel. Choose another one, or leave it empty. In a private channel, invite the app first.';

/** Going back from the review, the user may have emptied the field. */
function withoutChannel(origin: Origin): Origin {
  return origin.isHome && !origin.channelId?.startsWith('D') ? { ...origin, channelId: undefined } : origin;
}

/** The review if everything is chosen and in the catalog; otherwise the form, which says what isn't. */
async function loadForm(
  { word, ...typed }: TypedOrder,
  request: SlackRequest,
  origin: Origin,
): Promise<ModalView> {
  const catalog = await request.execute(openCreate, {});
  const isPlan = word !== undefined && typed.plan === undefined && findPlan(catalog, word) !== undefined;
  const input = word === undefined ? typed : { ...typed, [isPlan ? 'plan' : 'label']: word };
  const wrong = findWrongChoices(input, catalog).map((refusal) => request.explain(refusal));
  const complete = orderValue.safeParse(input);
  if (!complete.success || wrong.length > 0)
    return choicesView(catalog, input, origin, request.currency, wrong);
  const reviewed = await request.execute(reviewCreate, { order: complete.data });
  return createReviewView(reviewed, origin, request.currency);
}

/** Shows the choices again, as they were made. The form keeps its ID: it still pays once at most. */
async function goBack(input: Order, request: SlackRequest): Promise<void> {
  const { modal } = request;
  if (!modal) return form.open(input, request);
  const catalog = await request.execute(openCreate, {});
  await request.views.update(modal.viewId, choicesView(catalog, input, modal.origin, request.currency));
}

/** Answers with the view if the catalog is already known; otherwise with a loading view that it replaces. */
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
