import type { KnownBlock, ModalView } from '@slack/types';
import { LRUCache } from 'lru-cache';
import type { Caller, Entry, UseCase, UseCaseSpec } from '../core/entry.ts';
import { PART_OF_LIST } from '../core/find-server.ts';
import type { ConfirmationId, PostedMessage, Thread } from '../core/ids.ts';
import type { KnownRoles } from '../core/permission.ts';
import { withTimeout } from '../core/promises.ts';
import type { Secret } from '../core/secret.ts';
import { DAY_MS, MINUTE_MS } from '../core/time.ts';
import type { Kept, ReplyUrls } from '../db/kept.ts';
import type { Log } from '../log.ts';
import type { FollowedActs } from '../servers/follow.ts';
import type { System } from '../system.ts';
import type { Channels } from './directory.ts';
import type { ShownHome, TouchHome } from './home-publisher.ts';
import { type Message, partOfList, saysPartOfList, withPartOfList } from './kit/blocks.ts';
import type { Origin } from './kit/form.ts';
import { announce, type MayAnnounce } from './outbox.ts';
import { explainError } from './reply.ts';
import type { AdmissionParts } from './routing.ts';
import type { SlackAnswer, SlackClients } from './slack-api.ts';

/**
 * One command, press, choice or submission of one user, and all that a feature may work with: the entry, the replies, and what it
 * renders with. It leads to neither the store nor Slack's API (docs/design.md 7.2).
 */
export interface SlackRequest {
  readonly caller: Caller;
  readonly reply: Reply;
  readonly views: Views;
  readonly note: ReturnType<typeof createPartNote>;
  readonly modal?: {
    readonly viewId: string;
    readonly origin: Origin;
    /** Whether it shows a card: the forms of its buttons take its place. */
    readonly isCard?: boolean;
  };
  readonly pressed?: PostedMessage | undefined;
  /** The Home tab whose button was pressed. */
  readonly home?: {
    show(shown: ShownHome): Promise<boolean>;
  };
  /** The currency of prices; '' if none is set. */
  readonly currency: string;
  /** The address of the hosting account's page; undefined if none is set. */
  readonly accountUrl: string | undefined;
  /** The app's own address; undefined if none is set. */
  readonly publicUrl: string | undefined;
  /** Runs a use case as this user. Money effect: that of the use case. @throws as `Entry.execute` does */
  execute<Input, Output>(useCase: UseCase<Input, Output>, input: Input): Promise<Output>;
  /** Checks only the permission, before a form opens. @throws as `Entry.authorize` does */
  authorize(useCase: UseCaseSpec): Promise<void>;
  /** Looks up the user's roles in this workspace and channel, and the ones that Slack didn't confirm. */
  findRoles(): Promise<KnownRoles>;
  /** Puts an error into words, in escaped mrkdwn; an unexpected one gets an incident ID, here and in the log. */
  explain(error: unknown): string;
  /** Makes the request for one of several acts, by its number: each is carried out once. */
  subrequest(place: number): SlackRequest;
  /** Announces what this user did ("rebooted `web-1`", escaped mrkdwn); undefined if nothing was announced. */
  announce(action: string, ...more: KnownBlock[]): Promise<Announcement | undefined>;
  /**
   * Lets the background report how a followed act ends: in place of the announcement, if it can be edited, otherwise to this
   * user. `told`: the user knows how it ended, so nothing is reported.
   */
  placeAct(actId: string, announced: Announcement | 'told' | undefined): Promise<void>;
  /** Reacts with ✅ to the message in whose thread the act was announced. */
  reactDone(announced: Announcement | undefined): Promise<void>;
  now(): number;
  /** Waits for work as long as Slack's answer allows; undefined if it takes longer. @throws what the work throws in time */
  withTimeout<Result>(work: Promise<Result>): Promise<Result | undefined>;
}

export interface Announcement {
  /** The message; absent where it can't be edited. */
  readonly message?: PostedMessage;
}

/** Replies to a user (docs/design.md 2.4). Each returns whether Slack took the message. */
export interface Reply {
  /** Sends a message to this user only. */
  send(message: Message): Promise<boolean>;
  /** Replaces the message whose button was pressed; sends a new one where that is not possible. */
  replace(message: Message): Promise<boolean>;
  /** Replaces the message whose button was pressed, or does nothing. Not for commands: Slack might post a new message. */
  edit(message: Message): Promise<boolean>;
  /** Posts to everyone in the channel. */
  announce(message: Message): Promise<boolean>;
  /** The `response_url`, to be stored sealed for later; absent for modals. */
  readonly url?: Secret<string>;
}

export interface RequestParts extends AdmissionParts {
  readonly entry: Entry;
  readonly clients: SlackClients;
  readonly replyUrls: ReplyUrls;
  readonly kept: Kept;
  readonly followedActs: FollowedActs;
  readonly followedViews: FollowedViews;
  readonly acknowledgedViews: AcknowledgedViews;
  readonly mayAnnounce: MayAnnounce;
  readonly channels: Channels;
  readonly touchHome: TouchHome;
  readonly system: System;
  readonly log: Log;
  /** The operator's `HOSTING_CURRENCY`. */
  readonly currency: string;
  readonly accountUrl: string | undefined;
}

/** Where the replies to a user go, and where their changes are announced. */
export interface ReplyTarget {
  readonly reply: Reply;
  readonly triggerId: string | undefined;
  readonly thread: Thread | undefined;
}

/** Creates the request that a feature handles. */
export function createRequest(
  parts: RequestParts,
  caller: Caller,
  reply: Reply,
  triggerId: string | undefined,
  thread?: Thread,
): SlackRequest {
  return makeRequest(parts, caller, { reply, triggerId, thread });
}

function makeRequest(
  parts: RequestParts,
  caller: Caller,
  target: ReplyTarget,
  onBegin: () => void = () => undefined,
  note = createPartNote(),
): SlackRequest {
  const { entry, system, replyUrls, followedActs } = parts;
  const { workspaceId, userId } = caller.actor;
  let hasBegun = false;
  const begin = () => {
    hasBegun = true;
    onBegin();
  };
  const watch = { onChange: async () => begin(), onPartOfList: note.markPartial };
  return {
    caller,
    // Home has the note itself.
    reply: caller.surface === 'home' ? target.reply : note.inReply(target.reply),
    views: note.inViews(createViews(parts, caller, target)),
    note,
    currency: parts.currency,
    accountUrl: parts.accountUrl,
    publicUrl: parts.publicUrl,
    execute: async (useCase, input) => {
      // An earlier press of the same form may be carried out even if this one fails.
      if (useCase.effect === 'confirms') begin();
      const output = await entry.execute(useCase, input, { ...caller, ...watch });
      if (useCase.effect !== 'reads') parts.touchHome(workspaceId, userId);
      return output;
    },
    authorize: (useCase) => {
      if (useCase.effect === 'confirms') begin();
      return entry.authorize(useCase, caller);
    },
    findRoles: () => entry.findRoles(caller.actor),
    explain: (error) => explainError(error, { ...parts, hasBegun }),
    subrequest: (place) => {
      const requestId = caller.requestId && `${caller.requestId}#${place}`;
      return makeRequest(parts, { ...caller, requestId }, target, begin, note);
    },
    announce: (action, ...more) => announce({ action, more }, parts, caller, target),
    placeAct: async (actId, announced) => {
      if (announced === 'told') return followedActs.forget(actId);
      const { reply, thread } = target;
      const now = system.now();
      if (reply.url) await replyUrls.store(actId, workspaceId, reply.url, now + REPLY_URL_MS);
      await followedActs.place(actId, { message: announced?.message, thread }, now);
    },
    reactDone: async (announced) => {
      const { message } = announced ?? {};
      if (!target.thread || !message) return;
      const first = { channelId: message.channelId, ts: target.thread.ts };
      await parts.clients.of(workspaceId).react(first, 'white_check_mark');
    },
    now: () => system.now(),
    withTimeout: (work) => withTimeout(work, system),
  };
}

const REPLY_URL_MS = 30 * MINUTE_MS;
/** How long a thread is stored: longer than an order can wait for its approval and its outcome. */
const THREAD_MS = 60 * DAY_MS;

export type Views = ReturnType<typeof createViews>;

function createViews(
  { clients, followedViews, acknowledgedViews, replyUrls, kept, system }: RequestParts,
  { actor: { workspaceId, channelId }, surface }: Caller,
  { reply, triggerId, thread }: ReplyTarget,
) {
  return {
    /**
     * Opens a modal with the request's trigger, which expires after 3 s; a message has none. Returns the modal's ID; undefined
     * unless Slack confirmed that it is open.
     */
    open: async (view: ModalView): Promise<string | undefined> => {
      if (triggerId === undefined) return undefined;
      const opened = await clients.of(workspaceId).openView(triggerId, view);
      return opened.ok ? opened.viewId : undefined;
    },
    /** Replaces an open modal. */
    update: (viewId: string, view: ModalView): Promise<SlackAnswer> =>
      acknowledgedViews.update(viewId, () => clients.of(workspaceId).updateView(viewId, view)),
    /**
     * Stores the reply URL and the thread for a form, and returns the origin for its metadata. Pass an ID for a form that is no
     * modal. The reply URL stays with us, sealed; the modal carries only its ID. @throws what the store throws
     */
    storeOrigin: async (formId: ConfirmationId = system.newId()): Promise<Origin> => {
      if (reply.url) await replyUrls.store(formId, workspaceId, reply.url, system.now() + REPLY_URL_MS);
      if (thread) await kept.put('thread', formId, workspaceId, thread, system.now() + THREAD_MS);
      const isHome = surface === 'home' ? (true as const) : undefined;
      return { formId, channelId, thread, isHome };
    },
    /** Makes the outcome of a confirmation appear in this modal, if it is still open. */
    follow: (id: ConfirmationId, viewId: string): void => void followedViews.set(id, viewId),
  };
}

/** How late Slack may apply an ack: then it would overwrite an update that was sent after it. */
const APPLIED_AFTER_MS = 1000;
const MOST_VIEWS = 1000;

export type AcknowledgedViews = ReturnType<typeof createAcknowledgedViews>;

/** Keeps the ack of a submission from overwriting later updates of its modal, for the thousand that were submitted last. */
export function createAcknowledgedViews(system: System) {
  const last = new LRUCache<string, Promise<unknown>>({ max: MOST_VIEWS });
  return {
    /** Notes that a modal was submitted. `answered` resolves when its ack has been sent. */
    begin: (viewId: string, answered: Promise<void>): void => {
      last.set(
        viewId,
        answered.then(() => system.sleep(APPLIED_AFTER_MS)),
      );
    },
    /** Runs an update of a modal: in the order of the calls, and once Slack has had time to apply the ack. */
    update: <Result>(viewId: string, work: () => Promise<Result>): Promise<Result> => {
      const before = last.get(viewId);
      if (!before) return work();
      const done = before.then(work, work);
      last.set(viewId, done);
      return done;
    },
  };
}

/** The modals that show the progress of confirmations, the latest thousand. Nothing depends on them, since users may close them. */
export const createFollowedViews = () => new LRUCache<ConfirmationId, string>({ max: MOST_VIEWS });

export type FollowedViews = ReturnType<typeof createFollowedViews>;

/**
 * Creates the note that the hosting API has returned only part of the list. It is added to messages and views on their way to Slack,
 * so that no feature can forget it.
 */
function createPartNote() {
  let isKnown = false;
  let isSaid = false;
  /** Adds the note to a view, if it is due. */
  const inView = (view: ModalView): ModalView => {
    if (!isKnown) return view;
    isSaid = true;
    return { ...view, blocks: withPartOfList(view.blocks) };
  };
  const inMessage = (message: Message): Message => {
    if (!isKnown) return message;
    isSaid = true;
    const { text, blocks, plainBlocks } = message;
    return {
      text: saysPartOfList(text) ? text : `${text} ${PART_OF_LIST}`,
      blocks: withPartOfList(blocks),
      plainBlocks: plainBlocks && withPartOfList(plainBlocks),
    };
  };
  return {
    markPartial: () => {
      isKnown = true;
    },
    isPartial: () => isKnown,
    inView,
    inReply: (reply: Reply): Reply => ({
      ...reply,
      send: (message) => reply.send(inMessage(message)),
      replace: (message) => reply.replace(inMessage(message)),
      edit: (message) => reply.edit(inMessage(message)),
    }),
    inViews: (views: Views): Views => ({
      ...views,
      open: (view) => views.open(inView(view)),
      update: (viewId, view) => views.update(viewId, inView(view)),
    }),
    /** Sends the note alone if it is due and nothing had it: the outcome may only have been announced. */
    sayUnsaid: async (reply: Reply): Promise<void> => {
      if (isKnown && !isSaid) await reply.send({ text: PART_OF_LIST, blocks: [partOfList()] });
    },
  };
}
