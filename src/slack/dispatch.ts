import { withTimeout } from '../core/locks.ts';
import type { System } from '../system.ts';
import { dispatchEvent, dispatchStep } from './dispatch-events.ts';
import {
  dispatchAction,
  dispatchShortcut,
  dispatchSubmission,
  dispatchSuggestion,
  type OfferedOptions,
} from './dispatch-interactions.ts';
import { type SubmissionAck, sendError } from './failures.ts';
import { commandPayload, placeOfCommand, triggerId } from './payloads.ts';
import { replyTo, watchCommand } from './reply.ts';
import { createRequest } from './request.ts';
import {
  callerOf,
  createRouting,
  type Delivery,
  type DispatchParts,
  isRefused,
  type Routes,
  type Routing,
  sendUnreadable,
} from './routing.ts';

/** A command, whose ack can show words where the work shows nothing. */
interface CommandDelivery extends Delivery {
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

/** Slack takes no acknowledgment after that. */
const ACK_MS = 3000;

/** The envelopes that Slack waits for, by their IDs. */
export interface Unacknowledged {
  add(id: string): void;
  remove(id: string): void;
  /** Resolves when all have been acknowledged, or Slack does not wait for any of them. */
  settled(): Promise<void>;
}

export function createUnacknowledged(system: System): Unacknowledged {
  const since = new Map<string, number>();
  const waiting = new Set<() => void>();
  const forgetOld = () => {
    for (const [id, at] of since) if (system.elapsed() - at > ACK_MS) since.delete(id);
  };
  return {
    add: (id) => {
      forgetOld();
      since.set(id, system.elapsed());
    },
    remove: (id) => {
      since.delete(id);
      if (since.size > 0) return;
      for (const resolve of waiting) resolve();
      waiting.clear();
    },
    settled: async () => {
      forgetOld();
      if (since.size === 0) return;
      const empty = new Promise<void>((resolve) => {
        waiting.add(resolve);
      });
      await withTimeout(empty, system, ACK_MS);
    },
  };
}
