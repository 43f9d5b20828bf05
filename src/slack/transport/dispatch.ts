import type { PlainTextOption } from '@slack/types';
import type { Caller } from '../../app/authorize/use-case.ts';
import { withTimeout } from '../../app/with-timeout.ts';
import { Refusal } from '../../domain/errors.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { textMessage } from '../kit/blocks.ts';
import type { ActionHandler } from '../kit/button.ts';
import type { Command, Suggestions } from '../kit/command.ts';
import { noticeView } from '../kit/form.ts';
import { findOrigin, type ModalHandler, type SubmitAnswer } from '../kit/modal.ts';
import { describeRefusedPlace, isRefused } from './admission.ts';
import {
  explainInModal,
  type NextSteps,
  type SubmissionAck,
  sendError,
  showLateError,
  submissionAck,
} from './failures.ts';
import { awaitFinalView, type FinalView } from './final-view.ts';
import {
  actionPayload,
  actorOf,
  channelOf,
  commandPayload,
  placeOf,
  placeOfCommand,
  pressId,
  shortcutPayload,
  submissionPayload,
  suggestionPayload,
  triggerId,
} from './payloads.ts';
import { findReplyUrl, replyByUrl } from './reply.ts';
import { replyFrom, replyTo } from './reply-paths.ts';
import type { SlackRequest } from './request.ts';
import { createRequest } from './request-factory.ts';
import type { RequestParts } from './request-parts.ts';
import { type Revocation, readRevocation } from './revocations.ts';
import { watchCommand } from './visible.ts';

/** How a request reached us. */
export interface Delivery {
  /** Different for every delivery; absent where the transport has none. What Slack itself names a request comes first. */
  readonly requestId?: string;
  /** Resolves when the request has been acknowledged. */
  readonly answered: Promise<void>;
}

/** A command, whose ack can show words where the work shows nothing. */
export interface CommandDelivery extends Delivery {
  /** Called when the user sees something of it. */
  readonly onVisible?: () => void;
  /** Resolves after the ack: whether it said that this is being worked on. */
  readonly saysWorking?: Promise<boolean>;
}

/** One method for each kind of request that Slack sends. */
export interface Dispatch {
  command(body: unknown, delivery: CommandDelivery): Promise<void>;
  action(body: unknown, delivery: Delivery): Promise<void>;
  /** Its answer has to be sent first; `after` is done then. */
  submission(
    body: unknown,
    delivery: Delivery,
  ): Promise<{ readonly ack: SubmissionAck; readonly after?: () => Promise<void> }>;
  suggestion(body: unknown): Promise<PlainTextOption[]>;
  shortcut(body: unknown): Promise<void>;
  /** `app_uninstalled` or `tokens_revoked`. */
  revocation(body: unknown): Promise<void>;
}

/** What dispatch routes to, found by the subcommand that was typed. */
export interface Routes {
  readonly runCommand: (text: string, request: SlackRequest) => Promise<void>;
  readonly commands: readonly Pick<Command, 'actions' | 'modals' | 'suggestions'>[];
  readonly nextSteps: NextSteps;
}

/** What requests are routed with. */
export interface DispatchParts extends RequestParts {
  readonly slackApiUrl: string;
  /** Absent where the app can't be installed by OAuth: then there is nothing to erase. */
  readonly onRevocation?: ((revocation: Revocation) => Promise<void>) | undefined;
}

interface Routing extends DispatchParts, Pick<Routes, 'runCommand' | 'nextSteps'> {
  readonly actions: ReadonlyMap<string, ActionHandler>;
  readonly modals: ReadonlyMap<string, ModalHandler>;
  readonly suggestions: ReadonlyMap<string, Suggestions>;
}

/** Routes each request to its handler, and tells the user when something goes wrong. */
export function createDispatch({ runCommand, commands, nextSteps }: Routes, parts: DispatchParts): Dispatch {
  const byId = <Handler extends { readonly id: string }>(handlers: readonly Handler[]) =>
    new Map(handlers.map((handler) => [handler.id, handler]));
  const routing: Routing = {
    ...parts,
    runCommand,
    nextSteps,
    actions: byId(commands.flatMap(({ actions }) => actions)),
    modals: byId(commands.flatMap(({ modals }) => modals)),
    suggestions: byId(commands.flatMap(({ suggestions }) => suggestions)),
  };
  return {
    command: (body, delivery) => dispatchCommand(body, delivery, routing),
    action: (body, delivery) => dispatchAction(body, delivery, routing),
    submission: (body, delivery) => dispatchSubmission(body, delivery, routing),
    suggestion: (body) => dispatchSuggestion(body, routing),
    shortcut: (body) => refuseShortcut(body, routing),
    revocation: async (body) => {
      const revocation = readRevocation(body);
      if (revocation) await routing.onRevocation?.(revocation);
    },
  };
}

async function dispatchCommand(
  body: unknown,
  { onVisible = () => undefined, saysWorking = Promise.resolve(false), ...delivery }: CommandDelivery,
  routing: Routing,
): Promise<void> {
  const payload = commandPayload.safeParse(body).data;
  if (!payload) return sendUnreadable(body, routing);
  const { team_id: workspaceId, user_id: userId, channel_id: channelId } = payload;
  const actor = { workspaceId, userId, ...omitUndefined({ channelId }) };
  const id = triggerId('command', payload.trigger_id, actor);
  const caller: Caller = { actor, surface: 'command', ...delivery, ...omitUndefined({ requestId: id }) };
  const reply = replyTo(payload.response_url, actor, routing);
  const seen = watchCommand(reply, onVisible, saysWorking);
  if (await isRefused(placeOfCommand(payload), seen.reply, routing)) return seen.cleaned();
  const request = seen.watch(await createRequest(routing, caller, seen.reply, payload.trigger_id));
  await routing
    .runCommand(payload.text, request)
    .catch((error: unknown) => sendError(error, request, routing.nextSteps(error, payload.text)));
  await seen.cleaned();
}

async function dispatchAction(body: unknown, delivery: Delivery, routing: Routing): Promise<void> {
  const payload = actionPayload.safeParse(body).data;
  if (!payload) return sendUnreadable(body, routing);
  const [pressed] = payload.actions;
  const { view } = payload;
  const origin = findOrigin(view?.private_metadata ?? '');
  const actor = actorOf(payload, channelOf(payload, origin));
  const reply = origin ? replyFrom(origin, actor, routing) : replyTo(payload.response_url, actor, routing);
  if (await isRefused(placeOf(payload, actor), reply, routing)) return;
  const id = pressId(payload, actor);
  const caller: Caller = { actor, surface: 'button', ...delivery, ...omitUndefined({ requestId: id }) };
  const request = {
    ...(await createRequest(routing, caller, reply, payload.trigger_id)),
    ...omitUndefined({ modal: origin && view ? { viewId: view.id, origin } : undefined }),
  };
  const action = routing.actions.get(pressed?.action_id ?? '');
  const value = pressed?.selected_option?.value ?? pressed?.value ?? '';
  const running = action ? action.run(value, request) : Promise.reject(new Refusal('unreadable_press', {}));
  await running.catch((error: unknown) => sendError(error, request, routing.nextSteps(error)));
}

async function dispatchSubmission(body: unknown, delivery: Delivery, routing: Routing) {
  const payload = submissionPayload.safeParse(body).data;
  if (!payload) return refuseForm(UNREADABLE);
  const origin = findOrigin(payload.view.private_metadata);
  const actor = actorOf(payload, channelOf(payload, origin));
  const refused = await describeRefusedPlace(placeOf(payload, actor), routing);
  if (refused !== undefined) return refuseForm(refused);
  const reply = replyFrom(origin, actor, routing);
  const id = triggerId('submission', payload.trigger_id, actor);
  const caller: Caller = { actor, surface: 'modal', ...delivery, ...omitUndefined({ requestId: id }) };
  const { view } = payload;
  routing.acknowledgedViews.begin(view.id, delivery.answered);
  const final = awaitFinalView(
    await createRequest(routing, caller, reply, payload.trigger_id),
    view.id,
    routing.system,
  );
  try {
    const modal = routing.modals.get(view.callback_id);
    if (!modal) throw new Refusal('unreadable_press', {});
    const answer = await modal.run(view, final.request);
    return answer.after
      ? await finish(answer, answer.after, view.id, final, routing.nextSteps)
      : { ack: submissionAck(answer) };
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
  return { ack: submissionAck(view ? { with: view } : answer), after: () => work };
}

/** Slack gives up after 3 s; what comes later is cached by then, for the next letter that is typed. */
const SUGGESTION_TIMEOUT_MS = 2200;

async function dispatchSuggestion(body: unknown, routing: Routing): Promise<PlainTextOption[]> {
  const payload = suggestionPayload.safeParse(body).data;
  if (!payload) return [];
  const origin = findOrigin(payload.view?.private_metadata ?? '');
  const actor = actorOf(payload, channelOf(payload, origin));
  if ((await describeRefusedPlace(placeOf(payload, actor), routing)) !== undefined) return [];
  const request = await createRequest(
    routing,
    { actor, surface: 'modal' },
    replyTo(undefined, actor, routing),
    undefined,
  );
  try {
    const found = routing.suggestions.get(payload.action_id)?.find(payload.value, request);
    return (found && (await withTimeout(found, routing.system, SUGGESTION_TIMEOUT_MS))) ?? [];
  } catch (error) {
    request.explain(error); // logs a defect; Slack shows an empty menu
    return [];
  }
}

/** The app has no shortcuts; an older or an edited manifest may still offer some. */
async function refuseShortcut(body: unknown, routing: Routing): Promise<void> {
  const payload = shortcutPayload.safeParse(body).data;
  if (!payload) return sendUnreadable(body, routing);
  const actor = actorOf(payload, channelOf(payload));
  const reply = replyTo(payload.response_url, actor, routing);
  if (await isRefused(placeOf(payload, actor), reply, routing)) return;
  await reply.send(textMessage(NO_SHORTCUT));
}

const NO_SHORTCUT = 'This app doesn’t have that shortcut. `/vps help` lists what you can do.';

const UNREADABLE = 'Slack sent something that this app can’t read, so nothing was done.';

/** It is signed, so it is from Slack, but in no form that is known. */
async function sendUnreadable(body: unknown, routing: Routing): Promise<void> {
  const url =
    typeof body === 'object' && body !== null && 'response_url' in body ? body.response_url : undefined;
  const reply = replyByUrl(findReplyUrl(url, routing.slackApiUrl), { userId: '' }, routing.clients.of(''));
  await reply.send(textMessage(UNREADABLE));
}
