import { isRefused } from './admission.ts';
import { dispatchEvent } from './dispatch-events.ts';
import {
  dispatchAction,
  dispatchSubmission,
  dispatchSuggestion,
  type OfferedOptions,
} from './dispatch-interactions.ts';
import { dispatchShortcut } from './dispatch-shortcut.ts';
import { dispatchStep } from './dispatch-step.ts';
import { type SubmissionAck, sendError } from './failures.ts';
import { commandPayload, placeOfCommand, triggerId } from './payloads.ts';
import { replyTo } from './reply-paths.ts';
import { createRequest } from './request-factory.ts';
import {
  callerOf,
  createRouting,
  type Delivery,
  type DispatchParts,
  type Routes,
  type Routing,
  sendUnreadable,
} from './routing.ts';
import { watchCommand } from './visible.ts';

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
  suggestion(body: unknown): Promise<OfferedOptions>;
  shortcut(body: unknown, delivery: Delivery): Promise<void>;
  /** An execution of the app's step in a workflow: stored, before its ack; what is to be done after that. */
  step(body: unknown): Promise<(() => Promise<void>) | undefined>;
  /** Whatever the app subscribes to. */
  event(body: unknown, delivery: Delivery): Promise<void>;
}

/** Routes each request to its handler, and tells the user when something goes wrong. */
export function createDispatch(routes: Routes, parts: DispatchParts): Dispatch {
  const routing = createRouting(routes, parts);
  return {
    command: (body, delivery) => dispatchCommand(body, delivery, routing),
    action: (body, delivery) => dispatchAction(body, delivery, routing),
    submission: (body, delivery) => dispatchSubmission(body, delivery, routing),
    suggestion: (body) => dispatchSuggestion(body, routing),
    shortcut: (body, delivery) => dispatchShortcut(body, delivery, routing),
    step: (body) => dispatchStep(body, routing),
    event: (body, delivery) => dispatchEvent(body, delivery, routing),
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
  const actor = { workspaceId, userId, channelId };
  const id = triggerId('command', payload.trigger_id, actor);
  const caller = callerOf(actor, 'command', id, delivery);
  const reply = replyTo(payload.response_url, actor, routing);
  const seen = watchCommand(reply, onVisible, saysWorking);
  if (await isRefused(placeOfCommand(payload), seen.reply, routing, { hasBegun: false }))
    return seen.cleaned();
  const request = seen.watch(await createRequest(routing, caller, seen.reply, payload.trigger_id));
  await routing
    .runCommand(payload.text, request)
    .catch((error: unknown) => sendError(error, request, routing.nextSteps(error, payload.text)));
  await request.note.sayUnsaid(request.reply);
  await seen.cleaned();
}
