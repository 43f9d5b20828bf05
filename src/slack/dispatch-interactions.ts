import type { ModalView } from '@slack/types';
import type { z } from 'zod';
import { isRefusal, Refusal } from '../core/errors.ts';
import { PART_OF_LIST } from '../core/find-server.ts';
import { withResolvers, withTimeout } from '../core/promises.ts';
import type { System } from '../system.ts';
import { replyInHome, type ShownHome } from './home-publisher.ts';
import { plain, section, textMessage } from './kit/blocks.ts';
import type { Shortcut } from './kit/command.ts';
import { fillView, loadingView, noticeView, type Origin } from './kit/form.ts';
import { findOrigin, type SubmitAnswer } from './kit/modal.ts';
import { escapeText } from './kit/text.ts';
import { CARD_VIEW, cardView, readHomePage } from './kit/views.ts';
import {
  actionPayload,
  actorOf,
  messageOf,
  type PressedView,
  placeOf,
  pressId,
  shortcutPayload,
  submissionPayload,
  suggestionPayload,
  threadOf,
  triggerId,
} from './payloads.ts';
import {
  errorView,
  type NextSteps,
  plainWords,
  replyFrom,
  replyInCard,
  replyTo,
  sendError,
  showLateError,
} from './reply.ts';
import { createRequest, type SlackRequest } from './request.ts';
import {
  callerOf,
  type Delivery,
  describeRefusal,
  isRefused,
  type Routing,
  sendUnreadable,
  UNREADABLE,
} from './routing.ts';

/** Handles a press of a button or a choice in a menu, in a message, a modal or on Home. Money effect: that of its handler. */
export async function dispatchAction(body: unknown, delivery: Delivery, routing: Routing): Promise<void> {
  const payload = actionPayload.safeParse(body).data;
  if (!payload) return sendUnreadable(body, routing);
  const { view } = payload;
  const origin = findOrigin(view?.private_metadata ?? '');
  const actor = actorOf(payload, origin);
  const isHome = view?.type === 'home';
  const thread = origin?.thread ?? threadOf(payload);
  const reply =
    origin && !isHome
      ? replyFrom(origin, actor, routing)
      : replyTo(payload.response_url, actor, routing, thread);
  // `hasBegun` is unknown: an earlier press of the same button may still be carried out.
  if (await isRefused(placeOf(payload, actor), reply, routing, { hasBegun: undefined })) return;
  const caller = callerOf(actor, isHome ? 'home' : 'button', pressId(payload, actor), delivery);
  const made = createRequest(routing, caller, reply, payload.trigger_id, thread);
  if (isHome) return runAction(payload, onHome(made, view, routing), routing);
  const request = origin && view ? inModal(made, view, origin) : { ...made, pressed: messageOf(payload) };
  await runAction(payload, request, routing);
}

async function runAction(
  { actions: [pressed] }: z.output<typeof actionPayload>,
  request: SlackRequest,
  routing: Routing,
): Promise<void> {
  const action = routing.actions.get(pressed?.action_id ?? '');
  const value = pressed?.selected_option?.value ?? pressed?.value ?? '';
  const running = action ? action.run(value, request) : Promise.reject(new Refusal('unreadable_press', {}));
  await running.catch((error: unknown) => sendError(error, request, routing.nextSteps(error)));
  if (!request.home) await request.note.sayUnsaid(request.reply);
}

/** Adds Home to a request; replies appear on it. */
function onHome(request: SlackRequest, view: PressedView, { home }: Routing): SlackRequest {
  const page = readHomePage(view.private_metadata);
  const show = (shown: ShownHome) => home.show(request, { page, ...shown });
  return { ...request, reply: replyInHome(request.reply, (notices) => show({ notices })), home: { show } };
}

/** Adds the modal to a request; if it shows a card, replies appear on the card. */
function inModal(request: SlackRequest, view: PressedView, origin: Origin): SlackRequest {
  const modal = { viewId: view.id, origin };
  if (view.callback_id !== CARD_VIEW) return { ...request, modal };
  const reply = replyInCard(view, request.reply, request.views.update);
  return { ...request, modal: { ...modal, isCard: true }, reply };
}

/** The answer to a submission in Slack's format; undefined closes the modal. */
type SubmissionAck =
  | { readonly response_action: 'update'; readonly view: ModalView }
  | { readonly response_action: 'errors'; readonly errors: Readonly<Record<string, string>> }
  | undefined;

/** Handles the submission of a form. Returns the ack, and the rest of the work. Money effect: that of its handler. */
export async function dispatchSubmission(
  body: unknown,
  delivery: Delivery,
  routing: Routing,
): Promise<{ readonly ack: SubmissionAck; readonly after?: () => Promise<void> }> {
  const payload = submissionPayload.safeParse(body).data;
  if (!payload) return { ack: updateAck(noticeView(FAILED, UNREADABLE)) };
  const origin = findOrigin(payload.view.private_metadata);
  const actor = actorOf(payload, origin);
  const reply = replyFrom(origin, actor, routing);
  const id = triggerId('submission', payload.trigger_id, actor);
  const caller = callerOf(actor, 'modal', id, delivery);
  const { view } = payload;
  routing.acknowledgedViews.begin(view.id, delivery.answered);
  const request = createRequest(routing, caller, reply, payload.trigger_id, origin?.thread);
  const final = awaitFinalView(request, view.id, routing.system);
  const run = async (): Promise<SubmitAnswer> => {
    // An earlier press of the same form may be carried out.
    const refused = await describeRefusal(placeOf(payload, actor), routing, true);
    if (refused !== undefined) return { with: noticeView(FAILED, refused) };
    const modal = routing.modals.get(view.callback_id);
    if (!modal) throw new Refusal('unreadable_press', {});
    return modal.run(view, final.request);
  };
  const running = run();
  try {
    const answer = await withTimeout(running, routing.system, ACK_WITHIN_MS);
    if (answer?.after) return await finish(answer, answer.after, view.id, final, routing.nextSteps);
    if (answer) return { ack: submissionAck(answer, request) };
    await final.take();
    return { ack: updateAck(LATE), after: () => answerLate(running, view.id, request, routing.nextSteps) };
  } catch (error) {
    return { ack: explainInModal(error, request) };
  }
}

const FAILED = 'That didn’t work';
const LATE = noticeView(
  'One moment',
  'This is taking longer than usual. Keep this window open: the result will appear here.',
);

const updateAck = (view: ModalView) => ({ response_action: 'update' as const, view });

/** Shows what becomes of a form for which Slack's time for an ack was too short: the database or Slack is slow. */
async function answerLate(
  running: Promise<SubmitAnswer>,
  viewId: string,
  request: SlackRequest,
  nextSteps: NextSteps,
): Promise<void> {
  try {
    const { with: shown, after } = await running;
    const show = (view: ModalView) => request.views.update(viewId, request.note.inView(view));
    if (shown && 'errors' in shown) {
      const words = Object.values(shown.errors).map(escapeText).join(' ');
      if (!(await show(noticeView(FAILED, words))).ok) await request.reply.send(textMessage(words));
    } else if (shown) await show(shown);
    await after?.();
    if (!shown) await show(noticeView('Done', 'You can close this window.'));
  } catch (error) {
    await showLateError(error, viewId, request, nextSteps(error));
  }
}

/** Starts the rest of the work. If it shows a view soon, the ack has that view in place of one that says to wait. */
async function finish(
  answer: SubmitAnswer,
  after: () => Promise<void>,
  viewId: string,
  { request, take }: ReturnType<typeof awaitFinalView>,
  nextSteps: NextSteps,
) {
  const work = after().catch((error: unknown) => showLateError(error, viewId, request, nextSteps(error)));
  const view = await take();
  return { ack: submissionAck(view ? { with: view } : answer, request), after: () => work };
}

function submissionAck(answer: SubmitAnswer, { note }: SlackRequest): SubmissionAck {
  const { with: shown } = answer;
  if (!shown) return undefined;
  if ('errors' in shown) return { response_action: 'errors', errors: shown.errors };
  return updateAck(note.inView(shown));
}

/** Makes the ack that shows an error: beside the field that it is about, otherwise in place of the form. */
function explainInModal(error: unknown, request: SlackRequest): SubmissionAck {
  const words = request.explain(error);
  const field = fieldOf(error);
  if (field !== undefined) return { response_action: 'errors', errors: { [field]: plainWords(words) } };
  return submissionAck({ with: errorView(error, words) }, request);
}

function fieldOf(error: unknown): string | undefined {
  if (isRefusal(error, 'bad_label')) return 'label';
  return isRefusal(error, 'unknown_choice') ? error.details.field : undefined;
}

/** Slack gives up after 3 s. A later result is cached for the next letter that is typed. */
const SUGGESTION_TIMEOUT_MS = 2200;

/** Returns the choices of a menu that a user types into; if servers may be missing, in a group whose label says so. */
export async function dispatchSuggestion(body: unknown, routing: Routing) {
  const payload = suggestionPayload.safeParse(body).data;
  if (!payload) return { options: [] };
  const origin = findOrigin(payload.view?.private_metadata ?? '');
  const actor = actorOf(payload, origin);
  if ((await describeRefusal(placeOf(payload, actor), routing, undefined)) !== undefined)
    return { options: [] };
  const reply = replyTo(undefined, actor, routing);
  const request = createRequest(routing, { actor, surface: 'modal' }, reply, undefined);
  try {
    const found = routing.suggestions.get(payload.action_id)?.find(payload.value, request);
    const options = (found && (await withTimeout(found, routing.system, SUGGESTION_TIMEOUT_MS))) ?? [];
    return request.note.isPartial() && options.length > 0
      ? { option_groups: [{ label: plain(PART_OF_LIST), options }] }
      : { options };
  } catch (error) {
    request.explain(error); // logs a defect; Slack shows an empty menu
    return { options: [] };
  }
}

/** Handles a shortcut. Opens its modal before anything is looked up, since the trigger expires after 3 s. */
export async function dispatchShortcut(body: unknown, delivery: Delivery, routing: Routing): Promise<void> {
  const payload = shortcutPayload.safeParse(body).data;
  if (!payload) return sendUnreadable(body, routing);
  const shortcut = routing.shortcuts.get(payload.callback_id);
  const actor = actorOf(payload);
  const { trigger_id: trigger, message } = payload;
  const slack = routing.clients.of(actor.workspaceId);
  const opened = shortcut && trigger ? await slack.openView(trigger, loadingView(shortcut.title)) : undefined;
  // A message has a `thread_ts` only if there are replies.
  const thread = message
    ? { ts: message.thread_ts ?? message.ts, isOpen: message.thread_ts !== undefined }
    : undefined;
  const reply = replyTo(payload.response_url, actor, routing, thread);
  if (await isRefused(placeOf(payload, actor), reply, routing, { hasBegun: false })) return;
  if (!shortcut || !opened?.ok) {
    await reply.send(textMessage(shortcut ? NOT_OPENED : NO_SHORTCUT));
    return;
  }
  const id = triggerId('shortcut', trigger, actor);
  const caller = callerOf(actor, 'shortcut', id, delivery);
  const request = createRequest(routing, caller, reply, undefined, thread);
  await fill(shortcut, message, opened.viewId, request, routing);
}

async function fill(
  shortcut: Shortcut,
  message: unknown,
  viewId: string,
  request: SlackRequest,
  { nextSteps }: Routing,
): Promise<void> {
  const origin = await request.views.storeOrigin();
  const load = async () => {
    await request.authorize(shortcut.needs);
    return shortcut.load(message, request, origin);
  };
  const view = await load().catch((error: unknown) =>
    cardView(shortcut.title, origin, { blocks: [section(request.explain(error)), ...nextSteps(error)] }),
  );
  await fillView(viewId, view, shortcut.title, request);
}

/** For a shortcut that only an older or an edited manifest has. */
const NO_SHORTCUT = 'This app doesn’t have that shortcut. `/vps help` lists what you can do.';
const NOT_OPENED = 'If the window isn’t open, or stays on “Loading…”, use the shortcut again.';

const WAIT_MS = 1000;
/** Slack gives up on an ack after 3 s. */
const ACK_WITHIN_MS = 2200;

/** The blocks that Slack always takes. Only views of these go into an ack, since Slack doesn't report a refusal there. */
const PLAIN_BLOCKS = ['section', 'context', 'header', 'divider', 'actions', 'input'];

/** Makes a request whose first update of a modal that has just been submitted goes into the ack. */
function awaitFinalView(request: SlackRequest, viewId: string, system: System) {
  const startedAt = system.elapsed();
  let isOpen = true;
  const { promise: first, resolve } = withResolvers<ModalView>();
  const update: SlackRequest['views']['update'] = async (id, view) => {
    if (!isOpen || id !== viewId || !view.blocks.every(({ type }) => PLAIN_BLOCKS.includes(type))) {
      return request.views.update(id, view);
    }
    isOpen = false;
    resolve(view);
    return { ok: true };
  };
  return {
    request: { ...request, views: { ...request.views, update } },
    /** Waits for the view for the ack; undefined if none comes in time. Updates after this are sent normally. */
    take: async () => {
      const leftMs = Math.max(0, ACK_WITHIN_MS - (system.elapsed() - startedAt));
      const view = await withTimeout(first, system, Math.min(WAIT_MS, leftMs));
      isOpen = false;
      return view;
    },
  };
}
