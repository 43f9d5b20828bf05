import { Refusal, type RefusalCode } from '../core/errors.ts';
import { withResolvers } from '../core/promises.ts';
import type { Actor } from '../core/roles.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { RequestPlace } from '../installations/installations.ts';
import type { System } from '../system.ts';
import {
  dispatchAction,
  dispatchShortcut,
  dispatchSubmission,
  dispatchSuggestion,
} from './dispatch-interactions.ts';
import { type Message, textMessage } from './kit/blocks.ts';
import { splitSubcommand } from './kit/command.ts';
import {
  commandPayload,
  namedId,
  placeOfCommand,
  readHomeOpened,
  readRevocation,
  readStep,
  readTypedMessage,
  type TypedMessage,
  triggerId,
} from './payloads.ts';
import { holdsSecret } from './refusals.ts';
import { explainError, NO_REPLY, replyDirectly, replyTo, sendError } from './reply.ts';
import { createRequest, type Reply, type SlackRequest } from './request.ts';
import {
  callerOf,
  createRouting,
  type Delivery,
  type DispatchParts,
  describeRefusal,
  describeRefusedPlace,
  isRefused,
  type Routes,
  type Routing,
  sendUnreadable,
} from './routing.ts';

export type Dispatch = ReturnType<typeof createDispatch>;

/**
 * Handles Slack's requests, a method for each kind; `body` is what Slack sent, unchecked. Users are told what went wrong.
 * Money effect: that of the use cases.
 */
export function createDispatch(routes: Routes, parts: DispatchParts) {
  const routing = createRouting(routes, parts);
  return {
    command: (body: unknown, delivery: Delivery) => dispatchCommand(body, delivery, routing),
    action: (body: unknown, delivery: Delivery) => dispatchAction(body, delivery, routing),
    submission: (body: unknown, delivery: Delivery) => dispatchSubmission(body, delivery, routing),
    suggestion: (body: unknown) => dispatchSuggestion(body, routing),
    shortcut: (body: unknown, delivery: Delivery) => dispatchShortcut(body, delivery, routing),
    step: (body: unknown) => dispatchStep(body, routing),
    event: (body: unknown, delivery: Delivery) => dispatchEvent(body, delivery, routing),
  };
}

/**
 * Begins to carry out a slash command. Returns the message of its ack, if it has one; what resolves when its work has ended, which
 * may be before or after the ack; and what posts an answer whose ack could not be sent.
 */
function dispatchCommand(body: unknown, delivery: Delivery, routing: Routing) {
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
    const request = answer.watch(createRequest(routing, caller, answer.reply, payload.trigger_id));
    await finish(routing.runCommand(payload.text, request), payload.text, request, answer, routing);
  };
  const ended = run();
  const inAck = answer
    .inAck(ended)
    // Only buttons need the stamp, and getting it may take a database query.
    .then((message) =>
      message && message.blocks.length > 0 ? routing.clients.of(workspaceId).stamp(message) : message,
    );
  return { inAck, ended, postUnsent: answer.postUnsent };
}

/** Answers a command that has failed, and adds the note about a partial list if nothing had it. */
async function finish(
  running: Promise<void>,
  typed: string | undefined,
  request: SlackRequest,
  answer: CommandAnswer,
  { nextSteps }: Routing,
): Promise<void> {
  await running.catch((error: unknown) => {
    answer.noteError(error);
    return sendError(error, request, nextSteps(error, typed));
  });
  await request.note.sayUnsaid(request.reply);
}

/**
 * How long an answer may take to be sent with the ack of its command. Slack waits 3 s; an answer by `response_url` costs more
 * time.
 */
const RIDE_MS = 700;
/** How long a user may see nothing before the app says that it is working: they might press Enter again. */
const SILENCE_MS = 1500;

/** Shown to a user who has seen nothing else for that long. The app can neither replace nor delete the message of an ack. */
const WORKING = 'Working on it. The result will appear here.';

/** The blocks that all of Slack's clients know. Slack doesn't report to the app that it refuses the message of an ack. */
const OLD_BLOCKS: readonly string[] = ['section', 'context', 'actions', 'header', 'divider'];

/** Refusals that must arrive: what they refuse may have happened. */
const MUST_ARRIVE: readonly RefusalCode[] = ['order_unsaved', 'already_handled'];

type CommandAnswer = ReturnType<typeof createCommandAnswer>;

/**
 * Creates the answer to a command over these replies. It rides on the command's ack if it is final soon enough. Only what a user
 * asked to read, help and refusals may ride: an ack proves nothing, so outcomes of changes, secrets and whatever must arrive are
 * posted (docs/design.md 2.4). `isPosted`: nothing rides.
 */
function createCommandAnswer(given: Reply, system: System, isPosted = false) {
  const since = system.elapsed();
  let held: Message[] | undefined = isPosted ? undefined : [];
  let ridden: Message | undefined;
  let isChange = false;
  const { promise: visible, resolve: see } = withResolvers();
  const watched = async (taken: Promise<boolean>): Promise<boolean> => {
    const isTaken = await taken;
    if (isTaken) see();
    return isTaken;
  };
  /** From now on nothing rides. What was held comes first. */
  const post = async (): Promise<void> => {
    const messages = held ?? [];
    held = undefined;
    for (const message of messages) await watched(given.send(message));
  };
  const afterHeld = async (act: () => Promise<boolean>): Promise<boolean> => {
    await post();
    return watched(act());
  };
  const reply: Reply = {
    ...given,
    send: async (message) => {
      if (!held || isChange || !mayRide(message)) return afterHeld(() => given.send(message));
      held.push(message);
      return true;
    },
    replace: (message) => afterHeld(() => given.replace(message)),
    announce: (message) => afterHeld(() => given.announce(message)),
  };
  const watch = (request: SlackRequest): SlackRequest => ({
    ...request,
    execute: (useCase, input) => {
      isChange ||= useCase.effect !== 'reads';
      return request.execute(useCase, input);
    },
    subrequest: (place) => watch(request.subrequest(place)),
    views: {
      ...request.views,
      open: async (view) => {
        await post();
        const viewId = await request.views.open(view);
        if (viewId !== undefined) see();
        return viewId;
      },
    },
    announce: async (action, ...more) => {
      await post();
      const announced = await request.announce(action, ...more);
      if (announced) see();
      return announced;
    },
  });
  return {
    reply,
    watch,
    /** Notes an error that the request ended in: our own refusals may ride even if a change was tried. */
    noteError: (error: unknown): void => {
      if (error instanceof Refusal && !MUST_ARRIVE.includes(error.code)) isChange = false;
    },
    /**
     * Resolves with the message of the ack: the answer, if it is the only one and came soon; words that the app is still working
     * on it, if the user would see nothing else; undefined if the ack is empty.
     */
    inAck: async (work: Promise<void>): Promise<Message | undefined> => {
      // The caller handles what the work throws. The timers are short, so they aren't aborted: that costs more than the rest of an ack.
      const ended = work.then(
        () => true,
        () => true,
      );
      const isSoon = await Promise.race([ended, visible.then(() => true), system.sleep(RIDE_MS)]);
      // A process that was frozen is late although no timer says so: Slack may have stopped waiting.
      const isInTime = system.elapsed() - since <= RIDE_MS;
      if (isSoon === true && isInTime && held?.length === 1) {
        [ridden] = held;
        held = undefined;
        return ridden;
      }
      await post();
      if (isSoon === true) return undefined;
      const isSeen = await Promise.race([
        ended,
        visible.then(() => true),
        system.sleep(SILENCE_MS - RIDE_MS),
      ]);
      return isSeen === true ? undefined : { text: WORKING, blocks: [] };
    },
    /** Posts the answer that was to be sent with an ack that could not be sent. */
    postUnsent: async (): Promise<void> => {
      if (ridden) await given.send(ridden);
    },
  };
}

function mayRide(message: Message): boolean {
  return !holdsSecret(message) && message.blocks.every(({ type }) => OLD_BLOCKS.includes(type));
}

/** Handles an event by its type, after Bolt has acknowledged it; ignores unknown ones. Money effect: that of a typed command. */
async function dispatchEvent(body: unknown, delivery: Delivery, routing: Routing): Promise<void> {
  const revocation = readRevocation(body);
  if (revocation) return routing.onRevocation?.(revocation);
  const opened = readHomeOpened(body);
  if (opened) return openHome(opened, delivery, routing);
  const message = readTypedMessage(body);
  if (message) await dispatchMessage(message, delivery, routing);
}

/** Shows the Home tab. Says nothing to users who get none, since opening it is no request. */
async function openHome(
  { place, actor }: { readonly place: RequestPlace; readonly actor: Actor },
  delivery: Delivery,
  routing: Routing,
): Promise<void> {
  if ((await describeRefusal(place, routing, undefined)) !== undefined) return;
  const caller = callerOf(actor, 'home', undefined, delivery);
  await routing.home.open(createRequest(routing, caller, NO_REPLY, undefined));
}

/** A command that arrives later is not run: its user may have given up, or another user may have done it. */
const LATE_MS = 2 * MINUTE_MS;

/**
 * Runs the command of a mention or a direct message, once: the same as with `/vps`, but without a trigger for forms, and without an
 * ack that an answer could ride on.
 */
async function dispatchMessage(message: TypedMessage, delivery: Delivery, routing: Routing): Promise<void> {
  const { kind, actor, thread } = message;
  const reply =
    kind === 'mention' ? replyTo(undefined, actor, routing, thread) : replyDirectly(message, routing);
  const isNew = await isFirst(message, routing).catch(async (error: unknown) => {
    // A repeated event may have been carried out at its first delivery.
    const hasBegun = delivery.isRepeated === true;
    await reply.send(textMessage(explainError(error, { ...routing, hasBegun })));
    return false;
  });
  if (!isNew) return;
  const answer = createCommandAnswer(reply, routing.system, true);
  const ended = answerMessage(message, answer, delivery, routing);
  const working = await answer.inAck(ended);
  if (working) await reply.send(textMessage(working.text));
  await ended;
}

async function answerMessage(
  message: TypedMessage,
  answer: CommandAnswer,
  delivery: Delivery,
  routing: Routing,
): Promise<void> {
  const { actor, place, text, thread } = message;
  if (await isRefused(place, answer.reply, routing, { hasBegun: false })) return;
  const caller = callerOf(actor, message.kind, idOf(message), delivery);
  const request = answer.watch(createRequest(routing, caller, answer.reply, undefined, thread));
  const lateMs = routing.connections.clock.now() - message.sentAt;
  const run = async (): Promise<void> => {
    await refuseOutsider(message, request);
    if (text === undefined) await request.reply.send(textMessage(BEGIN_WITH_IT));
    else if (lateMs > LATE_MS) await request.reply.send(textMessage(lateWords(lateMs)));
    else await routing.runCommand(text, request);
  };
  await finish(run(), text, request, answer, routing);
}

/**
 * Stores that a message was received, by the IDs of its event and of the message; false if it was before. Slack repeats an event
 * without an acknowledgment for up to a day. An edit, or another subscription, makes another event of the same message.
 */
async function isFirst(message: TypedMessage, { seenRequests, system }: Routing): Promise<boolean> {
  const { eventId, actor, ts } = message;
  // The event names no workspace, so the command is refused later.
  if (idOf(message) === undefined) return true;
  const ids = [
    namedId('event', actor.workspaceId, eventId),
    namedId('message', actor.workspaceId, actor.channelId, ts),
  ].filter((each) => each !== undefined);
  return seenRequests.addAll(ids, system.now());
}

/** Returns the ID of a message's command, the same at every delivery; undefined if Slack names no workspace. */
function idOf({ actor: { workspaceId, userId, channelId }, ts }: TypedMessage): string | undefined {
  return namedId('typed', workspaceId, userId, channelId, ts);
}

/** Refuses users of other organizations, also for commands without a use case, such as help. @throws as `authorize` does */
async function refuseOutsider({ actor, text = '' }: TypedMessage, request: SlackRequest): Promise<void> {
  const { homeTeamId, workspaceId } = actor;
  if (homeTeamId === undefined || homeTeamId === workspaceId) return;
  const typed = splitSubcommand(text).name;
  const name = /^[a-z]{1,20}$/.test(typed) ? typed : 'panel';
  await request.authorize({ name, needs: 'anyone', effect: 'reads' });
}

const BEGIN_WITH_IT =
  'To run a command, begin your message with the mention, as in `@vps list`. Nothing was done.';

function lateWords(lateMs: number): string {
  const minutes = Math.round(lateMs / MINUTE_MS);
  return `Slack delivered your message ${minutes} min late, so nothing was done. Send it again if you still want this.`;
}

/**
 * Stores an execution of the app's step, before its ack: Slack sends an unacknowledged one again. Returns the work for after the
 * ack; undefined if there is none.
 * @throws what the store throws
 */
async function dispatchStep(body: unknown, routing: Routing): Promise<(() => Promise<void>) | undefined> {
  const step = readStep(body);
  if (!step) return undefined;
  const { event, place, isOurs } = step;
  const refused = isOurs ? await describeRefusedPlace(place, routing) : UNKNOWN_STEP;
  if (refused === undefined) return routing.receiveStep(event);
  return async () => {
    // The error of a step is plain text, without links.
    await routing.endStep(event, { error: refused.replace(/<[^|>]*\|([^>]*)>/g, '$1') });
  };
}

const UNKNOWN_STEP = 'This version of the app doesn’t have this step. Nothing was done.';
