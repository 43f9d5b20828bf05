import { Refusal, type RefusalCode } from '../core/errors.ts';
import type { System } from '../system.ts';
import { holdsSecret } from './failures.ts';
import type { Message } from './kit/blocks.ts';
import type { Reply, SlackRequest } from './request.ts';

/** How long an answer may take to ride on the ack of its command. Slack waits 3 s; an answer by `response_url` costs more time. */
const RIDE_MS = 700;
/** How long a user may see nothing before the app says that it is working: they might press Enter again. */
const SILENCE_MS = 1500;

/** What a user reads who has seen nothing else for that long. Slack can neither replace nor delete the words of an ack. */
const WORKING = 'Working on it. The result will appear here.';

/** The blocks that every client of Slack has known for years: nobody is told if Slack refuses the message of an ack. */
const OLD_BLOCKS: readonly string[] = ['section', 'context', 'actions', 'header', 'divider', 'image'];

/** Refusals that must arrive: what they refuse may have happened. */
const MUST_ARRIVE: readonly RefusalCode[] = ['order_unsaved', 'approval_unsaved', 'already_handled'];

/** The answer to a slash command, which rides on its ack if it is final soon enough. */
export interface CommandAnswer {
  /** Collects messages while they may ride; then posts them. */
  readonly reply: Reply;
  /** Watches what a request changes and shows besides its messages. */
  watch(request: SlackRequest): SlackRequest;
  /** An error that the request ended in: our own refusals may ride even if a change was tried. */
  noteError(error: unknown): void;
  /**
   * Resolves with the message of the ack: the answer, if it is the only one and came soon; words that the work goes on, if the user
   * would see nothing else; undefined if the ack is empty.
   */
  inAck(work: Promise<void>): Promise<Message | undefined>;
  /** Posts the answer that was to ride on an ack, which could not be sent. */
  postUnsent(): Promise<void>;
}

/**
 * Creates the answer to a command over these replies. Only what a user asked to read, help and refusals may ride: an ack proves
 * nothing, so outcomes of changes, secrets and whatever must arrive are posted (docs/design.md 2.4). `isPosted`: nothing rides.
 */
export function createCommandAnswer(given: Reply, system: System, isPosted = false): CommandAnswer {
  const since = system.elapsed();
  let held: Message[] | undefined = isPosted ? undefined : [];
  let ridden: Message | undefined;
  let isChange = false;
  let see: () => void = () => undefined;
  const visible = new Promise<void>((resolve) => {
    see = resolve;
  });
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
        const opened = await request.views.open(view);
        if (opened.ok) see();
        return opened;
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
    noteError: (error) => {
      if (error instanceof Refusal && !MUST_ARRIVE.includes(error.code)) isChange = false;
    },
    inAck: async (work) => {
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
    postUnsent: async () => {
      if (ridden) await given.send(ridden);
    },
  };
}

function mayRide(message: Message): boolean {
  return !holdsSecret(message) && message.blocks.every(({ type }) => OLD_BLOCKS.includes(type));
}
