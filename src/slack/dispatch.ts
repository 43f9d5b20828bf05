import { withTimeout } from '../core/locks.ts';
import type { System } from '../system.ts';
import { createCommandAnswer } from './answer.ts';
import { dispatchEvent, dispatchStep } from './dispatch-events.ts';
import {
  dispatchAction,
  dispatchShortcut,
  dispatchSubmission,
  dispatchSuggestion,
  type OfferedOptions,
} from './dispatch-interactions.ts';
import { type SubmissionAck, sendError } from './failures.ts';
import type { Message } from './kit/blocks.ts';
import { commandPayload, placeOfCommand, triggerId } from './payloads.ts';
import { replyTo } from './reply.ts';
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

/**
 * Handles Slack's requests, a method for each kind; `body` is what Slack sent, unchecked. Users read what goes wrong. Money effect:
 * that of the use cases.
 */
export interface Dispatch {
  /** Handles a slash command. */
  command(body: unknown, delivery: Delivery): RunningCommand;
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

/** A command that is being carried out. */
interface RunningCommand {
  /** The message of its ack, if it has one. */
  readonly inAck: Promise<Message | undefined>;
  /** Resolves when its work has ended, which may be before or after the ack. */
  readonly ended: Promise<void>;
  /** Posts an answer whose ack could not be sent. */
  postUnsent(): Promise<void>;
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

function dispatchCommand(body: unknown, delivery: Delivery, routing: Routing): RunningCommand {
  const payload = commandPayload.safeParse(body).data;
  if (!payload) {
    const ended = sendUnreadable(body, routing);
    return { inAck: Promise.resolve(undefined), ended, postUnsent: async () => undefined };
  }
  const { team_id: workspaceId, user_id: userId, channel_id: channelId } = payload;
  const actor = { workspaceId, userId, channelId };
  const id = triggerId('command', payload.trigger_id, actor);
  const caller = callerOf(actor, 'command', id, delivery);
  const place = placeOfCommand(payload);
  const reply = replyTo(payload.response_url, actor, routing);
  const answer = createCommandAnswer(reply, routing.system, delivery.mayBeReplay);
  const run = async (): Promise<void> => {
    if (await isRefused(place, answer.reply, routing, { hasBegun: false })) return;
    const request = answer.watch(await createRequest(routing, caller, answer.reply, payload.trigger_id));
    await routing.runCommand(payload.text, request).catch((error: unknown) => {
      answer.noteError(error);
      return sendError(error, request, routing.nextSteps(error, payload.text));
    });
    await request.note.sayUnsaid(request.reply);
  };
  const ended = run();
  const inAck = answer
    .inAck(ended)
    .then((message) => message && routing.clients.of(workspaceId).stamp(message));
  return { inAck, ended, postUnsent: answer.postUnsent };
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

/** Creates an empty set of envelopes. `onAck` is called with the age of each that is acknowledged, or given up by Slack. */
export function createUnacknowledged(
  system: System,
  onAck: (ms: number) => void = () => undefined,
): Unacknowledged {
  const since = new Map<string, number>();
  const waiting = new Set<() => void>();
  const end = (id: string, at: number) => {
    since.delete(id);
    onAck(system.elapsed() - at);
  };
  const forgetOld = () => {
    for (const [id, at] of since) if (system.elapsed() - at > ACK_MS) end(id, at);
  };
  return {
    add: (id) => {
      forgetOld();
      since.set(id, system.elapsed());
    },
    remove: (id) => {
      const at = since.get(id);
      if (at !== undefined) end(id, at);
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
