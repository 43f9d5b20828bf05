import type { PlainTextElement, PlainTextOption } from '@slack/types';
import type { z } from 'zod';
import { withTimeout } from '../../app/with-timeout.ts';
import type { Actor } from '../../domain/actor.ts';
import { Refusal } from '../../domain/errors.ts';
import { PART_OF_LIST } from '../../domain/part-of-list.ts';
import { plain } from '../kit/blocks.ts';
import { CARD_VIEW } from '../kit/card-view.ts';
import { noticeView } from '../kit/form.ts';
import { readHomePage } from '../kit/home-view.ts';
import { findOrigin, type SubmitAnswer } from '../kit/modal.ts';
import type { Origin } from '../kit/origin.ts';
import { describeRefusal, isRefused } from './admission.ts';
import { replyInCard } from './card-reply.ts';
import { explainInModal, type NextSteps, sendError, showLateError, submissionAck } from './failures.ts';
import { awaitFinalView, type FinalView } from './final-view.ts';
import type { ShownHome } from './home-publisher.ts';
import { replyInHome } from './home-reply.ts';
import {
  actionPayload,
  actorOf,
  channelOf,
  placeOf,
  pressId,
  submissionPayload,
  suggestionPayload,
  threadOf,
  triggerId,
} from './payloads.ts';
import { replyFrom, replyTo } from './reply-paths.ts';
import type { SlackRequest } from './request.ts';
import { createRequest } from './request-factory.ts';
import { callerOf, type Delivery, type Routing, sendUnreadable, UNREADABLE } from './routing.ts';

/** A button was pressed, or a choice was made. */
export async function dispatchAction(body: unknown, delivery: Delivery, routing: Routing): Promise<void> {
  const payload = actionPayload.safeParse(body).data;
  if (!payload) return sendUnreadable(body, routing);
  const { view } = payload;
  const origin = findOrigin(view?.private_metadata ?? '');
  const actor = actorOf(payload, channelOf(payload, origin));
  if (view?.type === 'home') return dispatchHomeAction(payload, view, actor, delivery, routing);
  const thread = origin?.thread ?? threadOf(payload);
  const reply = origin
    ? replyFrom(origin, actor, routing)
    : replyTo(payload.response_url, actor, routing, thread);
  // Which button it is isn't known yet, nor whether an earlier press may still go through.
  if (await isRefused(placeOf(payload, actor), reply, routing, { hasBegun: undefined })) return;
  const id = pressId(payload, actor);
  const caller = callerOf(actor, 'button', id, delivery);
  const made = await createRequest(routing, caller, reply, payload.trigger_id, thread);
  const request = origin && view ? inModal(made, view, origin) : made;
  await runAction(payload, request, routing);
}

async function runAction(
  { actions: [pressed] }: Pick<z.output<typeof actionPayload>, 'actions'>,
  request: SlackRequest,
  routing: Routing,
): Promise<void> {
  const action = routing.actions.get(pressed?.action_id ?? '');
  const value = pressed?.selected_option?.value ?? pressed?.value ?? '';
  const running = action ? action.run(value, request) : Promise.reject(new Refusal('unreadable_press', {}));
  await running.catch((error: unknown) => sendError(error, request, routing.nextSteps(error)));
  if (!request.home) await request.note.sayUnsaid(request.reply);
}

/** On Home: the result is shown there. */
async function dispatchHomeAction(
  payload: z.output<typeof actionPayload>,
  view: PressedView,
  actor: Actor,
  delivery: Delivery,
  routing: Routing,
): Promise<void> {
  const otherwise = replyTo(undefined, actor, routing);
  if (await isRefused(placeOf(payload, actor), otherwise, routing, { hasBegun: undefined })) return;
  const caller = callerOf(actor, 'home', pressId(payload, actor), delivery);
  const page = readHomePage(view.private_metadata);
  const reply = replyInHome(otherwise, (notices) => routing.home.show(made, { page, notices }));
  const made: SlackRequest = await createRequest(routing, caller, reply, payload.trigger_id);
  const home = { show: (shown: ShownHome) => routing.home.show(made, { page, ...shown }) };
  await runAction(payload, { ...made, home }, routing);
}

/** The same request from within a modal; on a card, its answers are shown there. */
function inModal(request: SlackRequest, view: PressedView, origin: Origin): SlackRequest {
  const modal = { viewId: view.id, origin };
  if (view.callback_id !== CARD_VIEW) return { ...request, modal };
  const { id, blocks, private_metadata: metadata } = view;
  const card = { id, blocks, metadata, title: view.title?.text ?? '' };
  const reply = replyInCard(card, request.reply, request.views.update);
  return { ...request, modal: { ...modal, isCard: true }, reply };
}

type PressedView = NonNullable<z.output<typeof actionPayload>['view']>;

/** A form was submitted. */
export async function dispatchSubmission(body: unknown, delivery: Delivery, routing: Routing) {
  const payload = submissionPayload.safeParse(body).data;
  if (!payload) return refuseForm(UNREADABLE);
  const origin = findOrigin(payload.view.private_metadata);
  const actor = actorOf(payload, channelOf(payload, origin));
  // An earlier press of the same form may go through.
  const refused = await describeRefusal(placeOf(payload, actor), routing, true);
  if (refused !== undefined) return refuseForm(refused);
  const reply = replyFrom(origin, actor, routing);
  const id = triggerId('submission', payload.trigger_id, actor);
  const caller = callerOf(actor, 'modal', id, delivery);
  const { view } = payload;
  routing.acknowledgedViews.begin(view.id, delivery.answered);
  const final = awaitFinalView(
    await createRequest(routing, caller, reply, payload.trigger_id, origin?.thread),
    view.id,
    routing.system,
  );
  try {
    const modal = routing.modals.get(view.callback_id);
    if (!modal) throw new Refusal('unreadable_press', {});
    const answer = await modal.run(view, final.request);
    return answer.after
      ? await finish(answer, answer.after, view.id, final, routing.nextSteps)
      : { ack: submissionAck(answer, final.request) };
  } catch (error) {
    return { ack: explainInModal(error, final.request) };
  }
}

function refuseForm(why: string) {
  return { ack: { response_action: 'update' as const, view: noticeView('That didn’t work', why) } };
}

/** Starts what follows the answer. Where its outcome is there soon, the ack shows that instead of a view that says to wait. */
async function finish(
  answer: SubmitAnswer,
  after: () => Promise<void>,
  viewId: string,
  { request, take }: FinalView,
  nextSteps: NextSteps,
) {
  const work = after().catch((error: unknown) => showLateError(error, viewId, request, nextSteps(error)));
  const view = await take();
  return { ack: submissionAck(view ? { with: view } : answer, request), after: () => work };
}

/** The options of a menu, in the form that Slack expects. */
export type OfferedOptions =
  | { readonly options: PlainTextOption[] }
  | { readonly option_groups: { readonly label: PlainTextElement; readonly options: PlainTextOption[] }[] };

/** Slack gives up after 3 s; what comes later is cached by then, for the next letter that is typed. */
const SUGGESTION_TIMEOUT_MS = 2200;

/** A user types into a menu. Its choices are put in a group if servers may be missing, because Slack shows the group's label. */
export async function dispatchSuggestion(body: unknown, routing: Routing): Promise<OfferedOptions> {
  const payload = suggestionPayload.safeParse(body).data;
  if (!payload) return { options: [] };
  const origin = findOrigin(payload.view?.private_metadata ?? '');
  const actor = actorOf(payload, channelOf(payload, origin));
  if ((await describeRefusal(placeOf(payload, actor), routing, undefined)) !== undefined)
    return { options: [] };
  let isPart = false;
  const onPartOfList = () => {
    isPart = true;
  };
  const request = await createRequest(
    routing,
    { actor, surface: 'modal', onPartOfList },
    replyTo(undefined, actor, routing),
    undefined,
  );
  try {
    const found = routing.suggestions.get(payload.action_id)?.find(payload.value, request);
    const options = (found && (await withTimeout(found, routing.system, SUGGESTION_TIMEOUT_MS))) ?? [];
    return isPart && options.length > 0
      ? { option_groups: [{ label: plain(PART_OF_LIST), options }] }
      : { options };
  } catch (error) {
    request.explain(error); // logs a defect; Slack shows an empty menu
    return { options: [] };
  }
}
