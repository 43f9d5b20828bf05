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

/** The delivery of a command, whose ack can say that the work goes on. */
interface CommandDelivery extends Delivery {
  /** Called when the user sees something of the work. */
  readonly onVisible?: () => void;
  /** Resolves after the ack: whether it said that the work goes on. */
  readonly saysWorking?: Promise<boolean>;
}

/**
 * Handles Slack's requests, a method for each kind; `body` is what Slack sent, unchecked. Users read what goes wrong. Money effect:
 * that of the use cases.
 */
export interface Dispatch {
  command(body: unknown, delivery: CommandDelivery): Promise<void>;
  action(body: unknown, delivery: Delivery): Promise<void>;
  /** Returns the ack to send, and `after`, which resolves when the rest of the work has ended. */
  submission(
    body: unknown,
    delivery: Delivery,
  ): Promise<{ readonly ack: SubmissionAck; readonly after?: () => Promise<void> }>;
  /** Returns the choices of a menu. */
  suggestion(body: unknown): Promise<OfferedOptions>;
  shortcut(body: unknown, delivery: Delivery): Promise<void>;
  /** Stores an execution of the app's step in a workflow, before its ack; returns the work for after it, if there is any. */
  step(body: unknown): Promise<(() => Promise<void>) | undefined>;
  /** Handles an event that the app subscribes to. */
  event(body: unknown, delivery: Delivery): Promise<void>;
}

/** Creates the dispatch over these handlers. */
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

/** How long Slack takes an acknowledgment. */
const ACK_MS = 3000;

/** The envelopes of Socket Mode that Slack waits for, by their IDs. */
export interface Unacknowledged {
  add(id: string): void;
  remove(id: string): void;
  /** Resolves when all have been acknowledged, or Slack has stopped waiting for them. */
  settled(): Promise<void>;
}

/** Creates an empty set of envelopes. */
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
