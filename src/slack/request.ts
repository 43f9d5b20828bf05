import type { KnownBlock, ModalView } from '@slack/types';
import type { Channels } from '../access/grants.ts';
import type { CurrencyOf } from '../account/workspaces.ts';
import type { OutcomeThreads, ReplyUrls } from '../core/directory.ts';
import type { Caller, Entry, UseCase, UseCaseSpec } from '../core/entry.ts';
import { PART_OF_LIST } from '../core/find-server.ts';
import type { ConfirmationId } from '../core/ids.ts';
import { withTimeout } from '../core/locks.ts';
import { type Role, strongestRole } from '../core/roles.ts';
import type { Secret } from '../core/secret.ts';
import { DAY_MS, MINUTE_MS } from '../core/time.ts';
import type { Log } from '../log.ts';
import type { Card } from '../requests/decision.ts';
import type { Thread } from '../servers/mentioned.ts';
import type { FollowedActs } from '../servers/ports.ts';
import type { System } from '../system.ts';
import { explainError } from './failures.ts';
import type { TouchHome } from './home-publisher.ts';
import { type Message, partOfList, saysPartOfList, withPartOfList } from './kit/blocks.ts';
import type { Origin } from './kit/form.ts';
import { announce, type MayAnnounce } from './outbox.ts';
import { whyNotOpened } from './refusals.ts';
import type { AdmissionParts } from './routing.ts';
import type { SlackAnswer, SlackClients } from './slack-api.ts';
import type { AcknowledgedViews, FollowedViews } from './views.ts';

/**
 * One command, press, choice or submission of one user, and all that a feature may work with: the entry, the ways back to
 * the user, and what it renders with. There is no way from here to the store or to Slack's API.
 */
export interface SlackRequest {
  readonly caller: Caller;
  readonly reply: Reply;
  readonly views: Views;
  readonly note: PartNote;
  /** The open modal whose button was pressed. */
  readonly modal?: {
    readonly viewId: string;
    readonly origin: Origin;
    /** It shows a card: the forms of its buttons take its place. */
    readonly isCard?: boolean;
  };
  /** The Home tab whose button was pressed. */
  readonly home?: {
    /** Shows it again with what is true now. True when Slack took it. */
    show(shown: { readonly page?: number; readonly isFresh?: boolean }): Promise<boolean>;
  };
  /** What prices are in; empty when the operator has not said. */
  readonly currency: string;
  /** The hosting account's page; undefined when the operator has not said. */
  readonly accountUrl: string | undefined;
  /** The app's own address; undefined when it has none. */
  readonly publicUrl: string | undefined;
  /** Runs a use case through the entry, as this user. @throws Refusal, HostingError */
  execute<Input, Output>(useCase: UseCase<Input, Output>, input: Input): Promise<Output>;
  /** Only checks the permission, before a form is opened. @throws Refusal as `execute` does */
  authorize(useCase: UseCaseSpec): Promise<void>;
  /** The user's highest role here, whatever servers it is for. */
  findRole(): Promise<Role | undefined>;
  /** Puts an error into words; an unexpected one gets an incident ID, here and in the log. */
  explain(error: unknown): string;
  /** The same request as one of several acts that it asks for: each of them is carried out once. */
  subrequest(place: number): SlackRequest;
  /** Announces what this user did ("rebooted `web-1`", escaped mrkdwn); undefined where nothing is announced. */
  announce(action: string, ...more: KnownBlock[]): Promise<Announcement | undefined>;
  /**
   * Lets the background tell how a followed act ends: in place of what the channel was told, if it was and that can be
   * edited, and otherwise to this user. `told`: the user knows how it ended.
   */
  placeAct(actId: string, announced: Announcement | 'told' | undefined): Promise<void>;
  /** Epoch milliseconds. */
  now(): number;
  /** The result if it comes before Slack wants its answer; undefined if it does not. */
  withTimeout<Result>(work: Promise<Result>): Promise<Result | undefined>;
}

/** Once the hosting API has returned only part of the list, says so in everything that this request shows its user. */
interface PartNote {
  inView(view: ModalView): ModalView;
  /** Sends the note by itself if the user has been shown nothing with it: the outcome may only have been announced. */
  sayUnsaid(reply: Reply): Promise<void>;
}

/** What was announced in the channel. */
export interface Announcement {
  /** The message; absent where it can't be edited. */
  readonly message?: Card;
}

/** The ways back to the user. Each tells whether Slack took the message. */
export interface Reply {
  /** To this user only. */
  send(message: Message): Promise<boolean>;
  /** In place of the message whose button was pressed; as a new message where that is not possible. */
  replace(message: Message): Promise<boolean>;
  /** In place of the message whose button was pressed, or not at all. Not for commands: Slack might post a new message. */
  edit(message: Message): Promise<boolean>;
  /** Deletes the message whose button was pressed. */
  delete(): Promise<boolean>;
  /** To everyone in the channel. */
  announce(message: Message): Promise<boolean>;
  /** The reply path itself, to be stored sealed for later; absent for modals. */
  readonly url?: Secret<string>;
}

/** Whether Slack opened a modal. The trigger may have expired, messages have none, and Slack may refuse the view or not answer. */
export type OpenedView =
  | { readonly ok: true; readonly viewId: string }
  | { readonly ok: false; readonly why: 'too_late' | 'no_trigger' | 'refused' | 'unanswered' };

/** The modals of this user. */
export interface Views {
  /** Opens a modal with the request's trigger, which lives 3 s. */
  open(view: ModalView): Promise<OpenedView>;
  update(viewId: string, view: ModalView): Promise<SlackAnswer>;
  /**
   * Stores where a form is opened, with its reply path, and returns the part that its modal carries. An ID is given for a
   * form that is no modal.
   */
  storeOrigin(formId?: ConfirmationId): Promise<Origin>;
  /** Shows the outcome of a confirmation in this modal, for as long as it is open. */
  follow(id: ConfirmationId, viewId: string): void;
}

/** What requests are made from. */
export interface RequestParts extends AdmissionParts {
  readonly entry: Entry;
  readonly clients: SlackClients;
  readonly replyUrls: ReplyUrls;
  readonly outcomeThreads: Pick<OutcomeThreads, 'find' | 'store'>;
  readonly followedActs: Pick<FollowedActs, 'place' | 'forget'>;
  readonly followedViews: FollowedViews;
  readonly acknowledgedViews: AcknowledgedViews;
  readonly mayAnnounce: MayAnnounce;
  readonly channels: Pick<Channels, 'look'>;
  readonly touchHome: TouchHome;
  readonly system: System;
  readonly log: Log;
  readonly currencyOf: CurrencyOf;
  readonly accountUrl: string | undefined;
}

/** How the user is answered, and where their changes are announced. */
export interface Ways {
  readonly reply: Reply;
  readonly triggerId: string | undefined;
  readonly thread: Thread | undefined;
}

/** Makes what a command, a button or a modal is handled with. */
export async function createRequest(
  parts: RequestParts,
  caller: Caller,
  reply: Reply,
  triggerId: string | undefined,
  thread?: Thread,
): Promise<SlackRequest> {
  const currency = await parts.currencyOf(caller.actor.workspaceId);
  return makeRequest({ ...parts, currency }, caller, { reply, triggerId, thread });
}

function makeRequest(
  parts: RequestParts & { readonly currency: string },
  caller: Caller,
  ways: Ways,
  onBegin: () => void = () => undefined,
  note = createPartNote(),
): SlackRequest {
  const { entry, system } = parts;
  let hasBegun = false;
  const begin = () => {
    hasBegun = true;
    onBegin();
  };
  const onChange = async () => begin();
  return {
    caller,
    // Home itself says it.
    reply: caller.surface === 'home' ? ways.reply : note.inReply(ways.reply),
    views: note.inViews(createViews(parts, caller, ways)),
    note,
    currency: parts.currency,
    accountUrl: parts.accountUrl,
    publicUrl: parts.publicUrl,
    execute: async (useCase, input) => {
      if (mayHaveBegun(useCase)) begin();
      const output = await entry.execute(useCase, input, { ...heard(caller, note), onChange });
      if (useCase.effect !== 'reads') parts.touchHome(caller.actor.workspaceId, caller.actor.userId);
      return output;
    },
    authorize: (useCase) => {
      if (mayHaveBegun(useCase)) begin();
      return entry.authorize(useCase, caller);
    },
    findRole: async () => strongestRole(await entry.findRoles(caller.actor)),
    explain: (error) => explainError(error, { ...parts, hasBegun }),
    subrequest: (place) => makeRequest(parts, numbered(caller, place), ways, begin, note),
    announce: (action, ...more) => announce({ action, more }, parts, caller, ways),
    placeAct: (actId, announced) => placeAct(actId, announced, parts, caller, ways),
    now: () => system.now(),
    withTimeout: (work) => withTimeout(work, system),
  };
}

function heard(caller: Caller, note: ReturnType<typeof createPartNote>): Caller {
  const onPartOfList = () => {
    caller.onPartOfList?.();
    note.hear();
  };
  return { ...caller, onPartOfList };
}

/** An action that is done once for each form may be under way from an earlier press, even if this press fails. */
function mayHaveBegun({ effect, isOncePerForm = false }: UseCaseSpec): boolean {
  return effect === 'confirms' || isOncePerForm;
}

/** Until then, the request itself reports the outcome. */
const FIRST_LOOK_MS = 2000;

async function placeAct(
  actId: string,
  announced: Announcement | 'told' | undefined,
  { followedActs, replyUrls, system }: RequestParts,
  { actor: { workspaceId } }: Caller,
  { reply, thread }: Ways,
): Promise<void> {
  if (announced === 'told') return followedActs.forget(actId);
  const message = announced?.message;
  const now = system.now();
  if (reply.url) await replyUrls.store(actId, workspaceId, reply.url, now + REPLY_URL_MS);
  await followedActs.place(actId, { message, thread }, { now, dueAt: now + FIRST_LOOK_MS });
}

function numbered(caller: Caller, place: number): Caller {
  const { requestId } = caller;
  return requestId === undefined ? caller : { ...caller, requestId: `${requestId}#${place}` };
}

const REPLY_URL_MS = 30 * MINUTE_MS;
/** Longer than an order can wait for its approval and then for its outcome. */
const THREAD_MS = 60 * DAY_MS;

function createViews(
  { clients, followedViews, acknowledgedViews, replyUrls, outcomeThreads, system }: RequestParts,
  { actor: { workspaceId, channelId }, surface }: Caller,
  { reply, triggerId, thread }: Ways,
): Views {
  return {
    open: async (view) => {
      if (triggerId === undefined) return { ok: false, why: 'no_trigger' };
      const opened = await clients.of(workspaceId).openView(triggerId, view);
      return opened.ok ? opened : { ok: false, why: whyNotOpened(opened.error) };
    },
    update: (viewId, view) =>
      acknowledgedViews.update(viewId, () => clients.of(workspaceId).updateView(viewId, view)),
    // The reply path stays with us, sealed; the modal carries only its ID.
    storeOrigin: async (formId = system.newId()) => {
      if (reply.url) await replyUrls.store(formId, workspaceId, reply.url, system.now() + REPLY_URL_MS);
      if (thread) await outcomeThreads.store(formId, workspaceId, thread, system.now() + THREAD_MS);
      const isHome = surface === 'home' ? (true as const) : undefined;
      return { formId, channelId, thread, isHome };
    },
    follow: (id, viewId) => followedViews.set(id, viewId),
  };
}

interface OwnPartNote extends PartNote {
  /** The list is known to be a part: everything shown from here on says so. */
  hear(): void;
  inReply(reply: Reply): Reply;
  inViews(views: Views): Views;
}

/** Adds the note about a partial list to messages and views on their way to Slack, so that no feature can forget it. */
function createPartNote(): OwnPartNote {
  let isKnown = false;
  let isSaid = false;
  const inView = (view: ModalView) => {
    if (!isKnown) return view;
    isSaid = true;
    return { ...view, blocks: withPartOfList(view.blocks) };
  };
  const inMessage = (message: Message) => {
    if (!isKnown) return message;
    isSaid = true;
    return withNote(message);
  };
  return {
    hear: () => {
      isKnown = true;
    },
    inView,
    inReply: (reply) => ({
      ...reply,
      send: (message) => reply.send(inMessage(message)),
      replace: (message) => reply.replace(inMessage(message)),
      edit: (message) => reply.edit(inMessage(message)),
    }),
    inViews: (views) => ({
      ...views,
      open: (view) => views.open(inView(view)),
      update: (viewId, view) => views.update(viewId, inView(view)),
    }),
    sayUnsaid: async (reply) => {
      if (isKnown && !isSaid) await reply.send({ text: PART_OF_LIST, blocks: [partOfList()] });
    },
  };
}

function withNote({ text, blocks, plainBlocks }: Message): Message {
  return {
    text: saysPartOfList(text) ? text : `${text} ${PART_OF_LIST}`,
    blocks: withPartOfList(blocks),
    plainBlocks: plainBlocks && withPartOfList(plainBlocks),
  };
}
