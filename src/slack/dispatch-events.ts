import { z } from 'zod';
import { AUDIT_ACTIONS, type AuditAction } from '../core/audit-entry.ts';
import type { WorkspaceId } from '../core/ids.ts';
import type { Actor } from '../core/roles.ts';
import { Secret } from '../core/secret.ts';
import { DAY_MS, MINUTE_MS } from '../core/time.ts';
import type { RequestPlace } from '../installations/installations.ts';
import type { Thread } from '../servers/mentioned.ts';
import type { StepEnd, StepEvent } from '../workflows/run.ts';
import { explainError, sendError } from './failures.ts';
import { type HomeOpened, readHomeOpened } from './home-publisher.ts';
import { namedId } from './http-receiver.ts';
import { textMessage } from './kit/blocks.ts';
import { STEP, type StepOutputs } from './kit/home-view.ts';
import { splitSubcommand } from './kit/typed-words.ts';
import { readRevocation } from './oauth.ts';
import { eventPlace, placeOfEvent, stepPayload } from './payloads.ts';
import { isSilent, NO_REPLY, replyDirectly, replyToMention, WORKING, watchCommand } from './reply.ts';
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

/** Routes an event by its type. Slack's library has acknowledged it already; one that is none of ours is ignored. */
export async function dispatchEvent(body: unknown, delivery: Delivery, routing: Routing): Promise<void> {
  const revocation = readRevocation(body);
  if (revocation) return routing.onRevocation?.(revocation);
  const opened = readHomeOpened(body);
  if (opened) return openHome(opened, delivery, routing);
  const message = readTypedMessage(body);
  if (message) await dispatchMessage(message, delivery, routing);
}

/** No message says why there is no Home: the event is no question. */
async function openHome({ place, actor }: HomeOpened, delivery: Delivery, routing: Routing): Promise<void> {
  if ((await describeRefusal(place, routing, undefined)) !== undefined) return;
  const caller = callerOf(actor, 'home', undefined, delivery);
  await routing.home.open(await createRequest(routing, caller, NO_REPLY, undefined));
}

/** A command that Slack delivers this late may have been given up, or done by someone else. */
const LATE_MS = 2 * MINUTE_MS;

/** A mention, or a direct message: the same commands as `/vps`, without a trigger for forms. */
async function dispatchMessage(message: TypedMessage, delivery: Delivery, routing: Routing): Promise<void> {
  const { kind } = message;
  const reply = kind === 'mention' ? replyToMention(message, routing) : replyDirectly(message, routing);
  const isNew = await isFirst(message, routing).catch(async (error: unknown) => {
    // A repeated event may have been carried out when it was delivered first.
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
  await showing(request, routing, (seen) =>
    answer(seen).catch((error: unknown) => sendError(error, seen, routing.nextSteps(error, text))),
  );
}

/**
 * Slack delivers an event again when it has not seen the acknowledgment, for up to a day. Both IDs are kept as long: an
 * edited message is another event, and so is the same message for another subscription. False for one that was received.
 */
async function isFirst(message: TypedMessage, { seenRequests, system }: Routing): Promise<boolean> {
  const { eventId, actor, ts } = message;
  // Slack's event names no workspace, so the command is refused later.
  if (idOf(message) === undefined) return true;
  const ids = [
    namedId('event', actor.workspaceId, eventId),
    namedId('message', actor.workspaceId, actor.channelId, ts),
  ].filter((each) => each !== undefined);
  return seenRequests.addAll(ids, system.now() + DAY_MS);
}

/** The same however often Slack delivers it. */
function idOf({ actor: { workspaceId, userId, channelId }, ts }: TypedMessage): string | undefined {
  return namedId('typed', workspaceId, userId, channelId, ts);
}

/** The command that it names; undefined if that isn't audited under its name. */
function nameIn({ text = '' }: TypedMessage): AuditAction | undefined {
  const { name: typed } = splitSubcommand(text);
  return AUDIT_ACTIONS.find((action) => action === typed);
}

/** Commands that need no role, such as help, are not for users of other organizations either. @throws Refusal */
async function refuseOutsider(message: TypedMessage, request: SlackRequest): Promise<void> {
  const { homeTeamId, workspaceId } = message.actor;
  if (homeTeamId === undefined || homeTeamId === workspaceId) return;
  const name = nameIn(message) ?? 'panel';
  await request.authorize({ name, needs: 'anyone', effect: 'reads' });
}

/** Says that it is being worked on, where the user sees nothing for too long. */
async function showing(
  request: SlackRequest,
  { system }: Routing,
  work: (request: SlackRequest) => Promise<void>,
): Promise<void> {
  let onVisible: () => void = () => undefined;
  const visible = new Promise<void>((resolve) => {
    onVisible = resolve;
  });
  const seen = watchCommand(request.reply, onVisible, Promise.resolve(false));
  const working = work(seen.watch({ ...request, reply: seen.reply }));
  if (await isSilent(working, visible, system)) await sayWorking(request.reply);
  await working;
}

async function sayWorking(reply: Reply): Promise<void> {
  await reply.send(textMessage(WORKING));
}

const BEGIN_WITH_IT =
  'To run a command, begin your message with the mention, as in `@vps list`. Nothing was done.';

function lateWords(lateMs: number): string {
  const minutes = Math.round(lateMs / MINUTE_MS);
  return `Slack delivered your message ${minutes} min late, so nothing was done. Send it again if you still want this.`;
}

/**
 * Stores an execution of our step, which Slack's library leaves unacknowledged until then: one that can't be stored comes again.
 * What follows is done after the ack; undefined where there is nothing to do.
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

/** A step's error is plain text. */
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

/** Which execution of our step is over. */
interface EndedStep {
  readonly workspaceId: WorkspaceId;
  readonly executionId: string;
  /** What Slack gave for this run alone. */
  readonly token: Secret<string> | undefined;
}

/** `error` reaches users as it is: plain text without secrets. */
type StepResult = { readonly outputs: StepOutputs } | { readonly error: string };

/** Tells Slack how a step ended; never throws. */
export type EndStep = (step: EndedStep, result: StepResult) => Promise<StepEnd>;

/** Slack's codes for outputs that are not those of the manifest. */
const BAD_OUTPUTS = ['parameter_validation_failed', 'invalid_arguments'];

/** Slack's codes after which no other try with that token can end the run. */
const HOPELESS = [
  'function_execution_not_found',
  ...['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired'],
];

/**
 * How long the token of a run lives is not documented, nor whether it outlives a restart of the app: where it doesn't work,
 * the app's own one may.
 */
export function createEndStep(connections: Pick<SlackConnections, 'open'>, clients: SlackClients): EndStep {
  return async ({ workspaceId, executionId, token }, result) => {
    const ofRun = token && connections.open(async () => ({ token }));
    const ways = [...(ofRun ? [ofRun] : []), clients.of(workspaceId)];
    const errors: string[] = [];
    for (const slack of ways) {
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

/** A message of a user to the app: a mention in a channel, or a direct message. */
export interface TypedMessage {
  readonly kind: 'mention' | 'direct_message';
  /** The same however often Slack delivers the event. */
  readonly eventId: string;
  readonly place: RequestPlace;
  readonly actor: Actor & Required<Pick<Actor, 'channelId'>>;
  readonly ts: string;
  /** Epoch milliseconds, by Slack's clock. */
  readonly sentAt: number;
  /** Where the answer belongs; undefined for a direct message outside of threads. */
  readonly thread: Thread | undefined;
  /** What was typed, without the mention; undefined where the message doesn't begin with it, and so isn't a command. */
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

/** A reply that is shown to the channel as well, a message with a file, and `/me`. */
const TYPED_SUBTYPES = ['thread_broadcast', 'file_share', 'me_message'];

/**
 * Reads what a user wrote to the app; undefined for everything else: messages of apps, also of this one, what only looks
 * like a message (a change, a deletion, someone who joined), edited messages, and messages in channels without a mention.
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

/** If the event doesn't say where the user is at home, and others may be in the channel, the user has to be looked up. */
function homeOf({ event, is_ext_shared_channel }: Envelope, workspaceId: string): string | undefined {
  const named = [event.user_team, event.source_team, event.user_profile?.team];
  // In a mention, `team` is the app's.
  const homes = (event.type === 'message' ? [...named, event.team] : named).filter((team) => team);
  const elsewhere = homes.find((team) => team !== workspaceId) ?? undefined;
  if (elsewhere !== undefined) return elsewhere;
  return homes.length === 0 && is_ext_shared_channel ? '' : undefined;
}

/** The outcome of a mention outside of threads is announced in its thread. */
function threadOf(
  { ts, thread_ts: root }: Envelope['event'],
  kind: TypedMessage['kind'],
): Thread | undefined {
  if (root !== undefined) return { ts: root, isOpen: true };
  return kind === 'mention' ? { ts, isOpen: false } : undefined;
}

/**
 * The command in a message. A mention has to begin the message, since "thanks @vps, stop web-1 was right" is none. Only
 * the first line counts: what follows are reasons.
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
