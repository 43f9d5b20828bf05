import { z } from 'zod';
import { AUDIT_ACTIONS, type AuditAction } from '../core/audit-entry.ts';
import type { WorkspaceId } from '../core/ids.ts';
import type { Actor } from '../core/roles.ts';
import { Secret } from '../core/secret.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { RequestPlace } from '../installations/installations.ts';
import type { Thread } from '../servers/mentioned.ts';
import type { StepEnd, StepEvent } from '../workflows/run.ts';
import { sayIfSilent, WORKING } from './answer.ts';
import { explainError, sendError } from './failures.ts';
import { type HomeOpened, readHomeOpened } from './home-publisher.ts';
import { namedId } from './http-receiver.ts';
import { textMessage } from './kit/blocks.ts';
import { STEP, type StepOutputs } from './kit/home-view.ts';
import { splitSubcommand } from './kit/typed-words.ts';
import { readRevocation } from './oauth.ts';
import { eventPlace, placeOfEvent, stepPayload } from './payloads.ts';
import { NO_REPLY, replyDirectly, replyToMention } from './reply.ts';
import { createRequest, type Reply, type SlackRequest } from './request.ts';
import {
  callerOf,
  type Delivery,
  describeRefusal,
  describeRefusedPlace,
  isRefused,
  type Routing,
} from './routing.ts';
import type { SlackAnswer, SlackApi, SlackClients, SlackConnections } from './slack-api.ts';

/** Handles an event by its type, after Bolt has acknowledged it; ignores unknown ones. Money effect: that of a typed command. */
export async function dispatchEvent(body: unknown, delivery: Delivery, routing: Routing): Promise<void> {
  const revocation = readRevocation(body);
  if (revocation) return routing.onRevocation?.(revocation);
  const opened = readHomeOpened(body);
  if (opened) return openHome(opened, delivery, routing);
  const message = readTypedMessage(body);
  if (message) await dispatchMessage(message, delivery, routing);
}

/** Shows the Home tab. Says nothing to users who get none, since opening it is no request. */
async function openHome({ place, actor }: HomeOpened, delivery: Delivery, routing: Routing): Promise<void> {
  if ((await describeRefusal(place, routing, undefined)) !== undefined) return;
  const caller = callerOf(actor, 'home', undefined, delivery);
  await routing.home.open(await createRequest(routing, caller, NO_REPLY, undefined));
}

/** A command that arrives later is not run: its user may have given up, or another user may have done it. */
const LATE_MS = 2 * MINUTE_MS;

/** Runs the command of a mention or a direct message, once: the same as with `/vps`, but without a trigger for forms. */
async function dispatchMessage(message: TypedMessage, delivery: Delivery, routing: Routing): Promise<void> {
  const { kind } = message;
  const reply = kind === 'mention' ? replyToMention(message, routing) : replyDirectly(message, routing);
  const isNew = await isFirst(message, routing).catch(async (error: unknown) => {
    // A repeated event may have been carried out at its first delivery.
    const hasBegun = delivery.isRepeated === true;
    await reply.send(textMessage(explainError(error, { ...routing, currency: '', hasBegun })));
    return false;
  });
  if (isNew) await answerMessage(message, reply, delivery, routing);
}

async function answerMessage(
  message: TypedMessage,
  reply: Reply,
  delivery: Delivery,
  routing: Routing,
): Promise<void> {
  const { actor, place, text, thread } = message;
  if (await isRefused(place, reply, routing, { hasBegun: false })) return;
  const caller = callerOf(actor, message.kind, idOf(message), delivery);
  const request = await createRequest(routing, caller, reply, undefined, thread);
  const lateMs = routing.connections.clock.now() - message.sentAt;
  const answer = async (seen: SlackRequest): Promise<void> => {
    await refuseOutsider(message, seen);
    if (text === undefined) await seen.reply.send(textMessage(BEGIN_WITH_IT));
    else if (lateMs > LATE_MS) await seen.reply.send(textMessage(lateWords(lateMs)));
    else await routing.runCommand(text, seen);
    await seen.note.sayUnsaid(seen.reply);
  };
  const work = (seen: SlackRequest) =>
    answer(seen).catch((error: unknown) => sendError(error, seen, routing.nextSteps(error, text)));
  await sayIfSilent(request, routing.system, work, () => request.reply.send(textMessage(WORKING)));
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

/** Returns the command that a message names; undefined if it isn't audited under its name. */
function nameIn({ text = '' }: TypedMessage): AuditAction | undefined {
  const { name: typed } = splitSubcommand(text);
  return AUDIT_ACTIONS.find((action) => action === typed);
}

/** Refuses users of other organizations, also for commands without a use case, such as help. @throws as `authorize` does */
async function refuseOutsider(message: TypedMessage, request: SlackRequest): Promise<void> {
  const { homeTeamId, workspaceId } = message.actor;
  if (homeTeamId === undefined || homeTeamId === workspaceId) return;
  const name = nameIn(message) ?? 'panel';
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
export async function dispatchStep(
  body: unknown,
  routing: Routing,
): Promise<(() => Promise<void>) | undefined> {
  const step = readStep(body);
  if (!step) return undefined;
  const { event, place, isOurs } = step;
  const refused = isOurs ? await describeRefusedPlace(place, routing) : UNKNOWN_STEP;
  if (refused === undefined) return routing.steps.receive(event);
  return async () => {
    await routing.endStep(event, { error: withoutLinks(refused) });
  };
}

const UNKNOWN_STEP = 'This version of the app doesn’t have this step. Nothing was done.';

/** Removes links from words, since the error of a step is plain text. */
function withoutLinks(words: string): string {
  return words.replace(/<[^|>]*\|([^>]*)>/g, '$1');
}

interface Step {
  readonly event: StepEvent;
  readonly place: RequestPlace;
  readonly isOurs: boolean;
}

function readStep(body: unknown): Step | undefined {
  const read = stepPayload.safeParse(body).data;
  if (!read) return undefined;
  const { event } = read;
  const place = placeOfEvent(read);
  const { action, server, key, channel } = event.inputs;
  return {
    place,
    isOurs: event.function.id === STEP.id,
    event: {
      workspaceId: place.workspaceId,
      executionId: event.function_execution_id,
      action,
      server,
      key: secretOf(key),
      sentAt: read.event_time === undefined ? undefined : read.event_time * 1000,
      channelId: channel === '' ? undefined : channel,
      token: secretOf(event.bot_access_token),
    },
  };
}

function secretOf(text: string): Secret<string> | undefined {
  const trimmed = text.trim();
  return trimmed === '' ? undefined : new Secret(trimmed);
}

/** An execution of the app's step that has ended. */
interface EndedStep {
  readonly workspaceId: WorkspaceId;
  readonly executionId: string;
  /** The token that Slack gave for this execution alone. */
  readonly token: Secret<string> | undefined;
}

/** The result of a step. Users see `error` as it is: plain text without secrets. */
type StepResult = { readonly outputs: StepOutputs } | { readonly error: string };

/** Reports to Slack how a step ended; never throws. */
export type EndStep = (step: EndedStep, result: StepResult) => Promise<StepEnd>;

/** Slack's codes for outputs that don't match the manifest. */
const BAD_OUTPUTS = ['parameter_validation_failed', 'invalid_arguments'];

/** Slack's codes after which no further try with the same token can end the execution. */
const HOPELESS = [
  'function_execution_not_found',
  ...['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired'],
];

/**
 * Creates the report of a step's end (`functions.completeSuccess`, `functions.completeError`). Tries the token of the execution,
 * whose lifetime Slack doesn't document, and then the app's own.
 */
export function createEndStep(connections: Pick<SlackConnections, 'open'>, clients: SlackClients): EndStep {
  return async ({ workspaceId, executionId, token }, result) => {
    const ofRun = token && connections.open(async () => ({ token }));
    const apis = [...(ofRun ? [ofRun] : []), clients.of(workspaceId)];
    const errors: string[] = [];
    for (const slack of apis) {
      const answer = await send(slack, executionId, result);
      if (answer.ok || answer.error === 'execution_not_in_running_state') return 'told';
      if ('outputs' in result && BAD_OUTPUTS.includes(answer.error)) return 'refused_outputs';
      errors.push(answer.error);
    }
    const isGone = errors.at(-1) === 'function_execution_not_found';
    return isGone && errors.every((error) => HOPELESS.includes(error)) ? 'told' : 'later';
  };
}

function send(slack: SlackApi, executionId: string, result: StepResult): Promise<SlackAnswer> {
  return 'outputs' in result
    ? slack.completeStep(executionId, result.outputs)
    : slack.failStep(executionId, result.error);
}

/** A message from a user to the app: a mention in a channel, or a direct message. */
export interface TypedMessage {
  readonly kind: 'mention' | 'direct_message';
  /** The same at every delivery of the event. */
  readonly eventId: string;
  readonly place: RequestPlace;
  readonly actor: Actor & Required<Pick<Actor, 'channelId'>>;
  readonly ts: string;
  /** Epoch milliseconds, by Slack's clock. */
  readonly sentAt: number;
  /** The thread for the answer; undefined for a direct message outside of threads. */
  readonly thread: Thread | undefined;
  /** The command, without the mention; undefined if the message mentions the app but doesn't begin with the mention. */
  readonly text: string | undefined;
}

const id = z.string().min(1).max(64);
const maybeId = id.nullish().catch(undefined);
const stamp = z.string().regex(/^\d{1,12}\.\d{1,9}$/);

const envelope = z.object({
  event_id: z.string().min(1).max(200),
  ...eventPlace,
  is_ext_shared_channel: z.boolean().default(true).catch(true),
  event: z.object({
    type: z.enum(['app_mention', 'message']),
    channel_type: z.string().optional().catch(undefined),
    subtype: z.string().optional(),
    bot_id: z.string().nullish(),
    edited: z.unknown().optional(),
    user: id,
    text: z.string().max(40_000).default(''),
    channel: id,
    ts: stamp,
    thread_ts: stamp.optional(),
    team: maybeId,
    user_team: maybeId,
    source_team: maybeId,
    user_profile: z.object({ team: maybeId }).nullish().catch(undefined),
  }),
});
type Envelope = z.output<typeof envelope>;

const SLACKBOT = 'USLACKBOT';

/** The subtypes that users write: a reply that is also sent to the channel, a message with a file, and `/me`. */
const TYPED_SUBTYPES = ['thread_broadcast', 'file_share', 'me_message'];

/**
 * Reads an event as what a user wrote to the app; undefined for everything else: messages of apps, this one included, events about
 * messages (a change, a deletion, a user who joined), edited messages, and messages in channels without a mention.
 */
export function readTypedMessage(body: unknown): TypedMessage | undefined {
  const read = envelope.safeParse(body).data;
  if (!read) return undefined;
  const { event } = read;
  const isOfApp = (event.bot_id ?? undefined) !== undefined || event.user === SLACKBOT;
  const isOther = event.subtype !== undefined && !TYPED_SUBTYPES.includes(event.subtype);
  if (isOfApp || isOther || (event.edited ?? undefined) !== undefined) return undefined;
  const kind = event.type === 'app_mention' ? 'mention' : 'direct_message';
  if (kind === 'direct_message' && event.channel_type !== 'im') return undefined;
  const [authorization] = read.authorizations;
  const place = placeOfEvent(read);
  const { workspaceId } = place;
  const homeTeamId = homeOf(read, workspaceId);
  return {
    kind,
    eventId: read.event_id,
    place,
    actor: { workspaceId, userId: event.user, channelId: event.channel, homeTeamId },
    ts: event.ts,
    sentAt: Number(event.ts) * 1000,
    thread: threadOf(event, kind),
    text: commandIn(event.text, kind, authorization?.user_id ?? undefined),
  };
}

/**
 * Returns the user's home team if it is not the workspace; '' if the event doesn't name one and other organizations may be in the
 * channel, so that the user is looked up.
 */
function homeOf({ event, is_ext_shared_channel }: Envelope, workspaceId: string): string | undefined {
  const named = [event.user_team, event.source_team, event.user_profile?.team];
  // In an `app_mention` event, `team` is the app's.
  const homes = (event.type === 'message' ? [...named, event.team] : named).filter((team) => team);
  const elsewhere = homes.find((team) => team !== workspaceId) ?? undefined;
  if (elsewhere !== undefined) return elsewhere;
  return homes.length === 0 && is_ext_shared_channel ? '' : undefined;
}

/** Returns the thread for the answer: the message's own, or for a mention outside of threads the one under it. */
function threadOf(
  { ts, thread_ts: root }: Envelope['event'],
  kind: TypedMessage['kind'],
): Thread | undefined {
  if (root !== undefined) return { ts: root, isOpen: true };
  return kind === 'mention' ? { ts, isOpen: false } : undefined;
}

/**
 * Finds the command in a message: its first line, without the mention. Undefined if a mention doesn't begin the message, since
 * "thanks @vps, stop web-1 was right" is no command.
 */
function commandIn(
  text: string,
  kind: TypedMessage['kind'],
  botUserId: string | undefined,
): string | undefined {
  const mention = /^\s*<@([UW][A-Z0-9]+)(?:\|[^>]*)?>[\s,:]*/.exec(text);
  const isOurs = mention && (botUserId === undefined || mention[1] === botUserId);
  if (kind === 'mention' && !isOurs) return undefined;
  const rest = (isOurs ? text.slice(mention[0].length) : text).trim();
  const [line = ''] = rest.split('\n');
  return line
    .trim()
    .replace(/^`+([^`]+)`+$/, '$1')
    .replace(/^\/vps\b/, '')
    .trim();
}
