import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { PostedMessage, Thread, WorkspaceId } from '../core/ids.ts';
import type { Actor } from '../core/roles.ts';
import { Secret } from '../core/secret.ts';
import type { RequestPlace } from '../installations/installations.ts';
import type { StepEvent } from '../workflows/run.ts';
import { readBlockStamp } from './kit/blocks.ts';
import { channelId, userId } from './kit/fields.ts';
import type { Origin } from './kit/form.ts';
import { findOrigin, submittedView } from './kit/modal.ts';

/*
 * The shapes of what Slack sends: the parts that are read. Everything else in them is ignored.
 */
const id = z.string().min(1).max(64);
const maybeId = id.nullish().catch(undefined);

export const commandPayload = z.object({
  command: z.string().startsWith('/'),
  text: z.string().max(20_000).default(''),
  user_id: userId,
  team_id: id,
  channel_id: channelId.optional(),
  response_url: z.string().optional(),
  trigger_id: z.string().optional(),
  enterprise_id: maybeId,
  /** `true` or `false` as text, since a command is sent as a form. */
  is_enterprise_install: z.string().nullish().catch(undefined),
});

const user = z.object({ id: userId, team_id: id.optional() });
const place = z.object({
  user,
  /**
   * Null for an app that was installed for a whole organization. In payloads of a view it is the team of the user who
   * submits it, which may be another one.
   */
  team: z.object({ id }).nullish(),
  channel: z.object({ id: channelId }).nullish(),
  is_enterprise_install: z.boolean().default(false).catch(false),
  enterprise: z.object({ id }).nullish().catch(undefined),
});
const installed = { app_installed_team_id: maybeId };
const surroundingView = z
  .object({
    ...installed,
    id: z.string().default(''),
    type: z.string().default('modal').catch('modal'),
    callback_id: z.string().default('').catch(''),
    private_metadata: z.string().default(''),
    title: z.object({ text: z.string() }).optional().catch(undefined),
    blocks: z
      .array(z.looseObject({ type: z.string(), block_id: z.string().exactOptional() }))
      .default([])
      .catch([]),
  })
  .nullish();

export const actionPayload = place.extend({
  type: z.literal('block_actions'),
  response_url: z.string().optional(),
  trigger_id: z.string().optional(),
  view: surroundingView,
  /** The message or view with the button. */
  container: z
    .object({
      message_ts: z.string().optional(),
      view_id: z.string().optional(),
      thread_ts: z.string().optional().catch(undefined),
    })
    .nullish()
    .catch(undefined),
  actions: z
    .array(
      z.object({
        action_id: z.string(),
        block_id: z.string().optional().catch(undefined),
        action_ts: z.string().optional().catch(undefined),
        value: z.string().nullish(),
        selected_option: z.object({ value: z.string() }).nullish(),
      }),
    )
    .min(1),
});

export const submissionPayload = place.extend({
  trigger_id: z.string().optional(),
  view: submittedView.extend(installed),
});

const pointer = z.looseObject({ ts: z.string().max(64), thread_ts: z.string().max(64).optional() });

export const shortcutPayload = place.extend({
  callback_id: z.string().max(255).default('').catch(''),
  message: pointer.nullish().catch(undefined),
  response_url: z.string().optional(),
  trigger_id: z.string().optional(),
});

export const suggestionPayload = place.extend({
  action_id: z.string(),
  block_id: z.string().optional().catch(undefined),
  value: z.string().default(''),
  view: surroundingView,
});

/** A press, a submission, a shortcut or a request for choices, as far as it says where it comes from. */
type Place = z.output<typeof place> & {
  readonly view?: {
    readonly app_installed_team_id?: string | null;
    readonly private_metadata?: string;
  } | null;
  readonly actions?: readonly { readonly block_id?: string }[];
  readonly block_id?: string;
};

export function placeOfCommand(payload: z.output<typeof commandPayload>): RequestPlace {
  const { team_id: workspaceId, enterprise_id, is_enterprise_install } = payload;
  const orgId = is_enterprise_install === 'true' ? (enterprise_id ?? undefined) : undefined;
  return { workspaceId, orgId };
}

export function placeOf({ is_enterprise_install, enterprise }: Place, { workspaceId }: Actor): RequestPlace {
  const orgId = is_enterprise_install ? enterprise?.id : undefined;
  return { workspaceId, orgId };
}

/** Returns the actor. A form counts for the channel that it was opened in, so that roles for it count there. */
export function actorOf(payload: Place, origin?: Origin): Actor {
  const { user, channel } = payload;
  const channelId = channel?.id ?? origin?.channelId;
  return { workspaceId: workspaceOf(payload), userId: user.id, channelId, homeTeamId: user.team_id };
}

/**
 * Returns the workspace of an act. For an app of a whole organization, Slack may not name it: then the app's own message or form
 * does (`stampBlocks` in kit/blocks.ts), since the user's home proves nothing. Without that it is the organization, which isn't
 * served as a workspace, so the act is refused.
 */
function workspaceOf(payload: Place): WorkspaceId {
  const { view, team, user, is_enterprise_install, enterprise } = payload;
  const stamped = is_enterprise_install ? readStamp(payload) : undefined;
  const named = stamped ?? view?.app_installed_team_id ?? team?.id;
  return named ?? (is_enterprise_install ? enterprise?.id : user.team_id) ?? '';
}

function readStamp({ view, actions = [], block_id }: Place): WorkspaceId | undefined {
  if (view) return findOrigin(view.private_metadata ?? '')?.workspaceId;
  return readBlockStamp(actions[0]?.block_id ?? block_id);
}

type Press = z.output<typeof actionPayload>;
/** The modal or the Home tab whose button was pressed. */
export type PressedView = NonNullable<Press['view']>;

/** Returns the ID of a press, the same at every delivery; undefined if Slack names nothing that identifies it. */
export function pressId({ container, actions: [pressed], trigger_id }: Press, actor: Actor) {
  const place = container?.message_ts ?? container?.view_id;
  const { workspaceId, userId } = actor;
  return (
    namedId('press', workspaceId, userId, place, pressed?.action_ts) ?? triggerId('press', trigger_id, actor)
  );
}

/** Returns the ID of a command, a shortcut or a submission, each of which has a trigger of its own; undefined without one. */
export function triggerId(kind: string, trigger: string | undefined, { workspaceId, userId }: Actor) {
  return namedId(kind, workspaceId, userId, trigger);
}

/** Returns the thread of the message whose button was pressed; undefined if that message is no reply. */
export function threadOf({ container }: Press): Thread | undefined {
  const { message_ts: ts, thread_ts: root } = container ?? {};
  return root === undefined || root === ts ? undefined : { ts: root, isOpen: true };
}

export function messageOf({ channel, container }: Press): PostedMessage | undefined {
  const ts = container?.message_ts;
  return channel && ts !== undefined ? { channelId: channel.id, ts } : undefined;
}

/**
 * Returns the ID of a request: a hash of the names that Slack gives it, which stay the same if Slack signs the request again.
 * Undefined if one is missing or empty, since different requests would share the ID.
 */
export function namedId(...parts: readonly (string | undefined)[]): string | undefined {
  if (parts.some((part) => !part)) return undefined;
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** The shape of an event’s fields that say what it is, and for which workspace Slack delivers it. */
const eventPlace = {
  type: z.literal('event_callback'),
  team_id: maybeId,
  /** The workspace that the event is delivered for. In a shared channel, `team_id` may be that of the user who acted. */
  context_team_id: maybeId,
  enterprise_id: maybeId,
  context_enterprise_id: maybeId,
  authorizations: z
    .array(z.object({ team_id: maybeId, user_id: maybeId, is_enterprise_install: z.boolean().catch(false) }))
    .default([])
    .catch([]),
};

/** Returns the place of an event. Its workspace is '' if Slack doesn't name one. */
function placeOfEvent(read: z.output<z.ZodObject<typeof eventPlace>>): RequestPlace {
  const [authorization] = read.authorizations;
  const workspaceId = read.context_team_id ?? authorization?.team_id ?? read.team_id ?? '';
  const enterpriseId = read.context_enterprise_id ?? read.enterprise_id ?? undefined;
  const orgId = authorization?.is_enterprise_install ? enterpriseId : undefined;
  return { workspaceId, orgId };
}

const stamp = z.string().regex(/^\d{1,12}\.\d{1,9}$/);

const messageEvent = z.object({
  event_id: z.string().min(1).max(200),
  ...eventPlace,
  is_ext_shared_channel: z.boolean().default(true).catch(true),
  event: z.object({
    type: z.enum(['app_mention', 'message']),
    channel_type: z.string().optional().catch(undefined),
    subtype: z.string().optional(),
    bot_id: z.string().nullish(),
    edited: z.unknown().optional(),
    user: userId,
    text: z.string().max(40_000).default(''),
    channel: channelId,
    ts: stamp,
    thread_ts: stamp.optional(),
    team: maybeId,
    user_team: maybeId,
    source_team: maybeId,
    user_profile: z.object({ team: maybeId }).nullish().catch(undefined),
  }),
});
type MessageEvent = z.output<typeof messageEvent>;

type MessageKind = 'mention' | 'direct_message';
export type TypedMessage = NonNullable<ReturnType<typeof readTypedMessage>>;

/** The subtypes that users write: a reply that is also sent to the channel, a message with a file, and `/me`. */
const TYPED_SUBTYPES = ['thread_broadcast', 'file_share', 'me_message'];

/**
 * Reads an event as what a user wrote to the app; undefined for everything else: messages of apps, this one included, events about
 * messages (a change, a deletion, a user who joined), edited messages, and messages in channels without a mention.
 */
export function readTypedMessage(body: unknown) {
  const read = messageEvent.safeParse(body).data;
  if (!read) return undefined;
  const { event } = read;
  const isOfApp = (event.bot_id ?? undefined) !== undefined || event.user === 'USLACKBOT';
  const isOther = event.subtype !== undefined && !TYPED_SUBTYPES.includes(event.subtype);
  if (isOfApp || isOther || (event.edited ?? undefined) !== undefined) return undefined;
  const kind: MessageKind = event.type === 'app_mention' ? 'mention' : 'direct_message';
  if (kind === 'direct_message' && event.channel_type !== 'im') return undefined;
  const [authorization] = read.authorizations;
  const place = placeOfEvent(read);
  const { workspaceId } = place;
  const homeTeamId = homeOf(read, workspaceId);
  return {
    kind,
    /** The same at every delivery of the event. */
    eventId: read.event_id,
    place,
    actor: { workspaceId, userId: event.user, channelId: event.channel, homeTeamId },
    ts: event.ts,
    /** Epoch milliseconds, by Slack's clock. */
    sentAt: Number(event.ts) * 1000,
    /** Undefined for a direct message outside of threads. */
    thread: answerThreadOf(event, kind),
    text: commandIn(event.text, kind, authorization?.user_id ?? undefined),
  };
}

/**
 * Returns the user's home team if it is not the workspace; '' if the event doesn't name one and other organizations may be in the
 * channel, so that the user is looked up.
 */
function homeOf({ event, is_ext_shared_channel }: MessageEvent, workspaceId: string): string | undefined {
  const named = [event.user_team, event.source_team, event.user_profile?.team];
  // In an `app_mention` event, `team` is the app's.
  const homes = (event.type === 'message' ? [...named, event.team] : named).filter((team) => team);
  const elsewhere = homes.find((team) => team !== workspaceId) ?? undefined;
  if (elsewhere !== undefined) return elsewhere;
  return homes.length === 0 && is_ext_shared_channel ? '' : undefined;
}

/** Returns the thread for the answer: the message's own, or for a mention outside of threads the one under it. */
function answerThreadOf(
  { ts, thread_ts: root }: MessageEvent['event'],
  kind: MessageKind,
): Thread | undefined {
  if (root !== undefined) return { ts: root, isOpen: true };
  return kind === 'mention' ? { ts, isOpen: false } : undefined;
}

/**
 * Finds the command in a message: its first line, without the mention. Undefined if a mention doesn't begin the message, since
 * "thanks @vps, stop web-1 was right" is no command.
 */
function commandIn(text: string, kind: MessageKind, botUserId: string | undefined): string | undefined {
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

const homeEvent = z.object({
  ...eventPlace,
  event: z.object({
    type: z.literal('app_home_opened'),
    user: userId,
    channel: channelId,
    /** Slack sends the same event for the Messages tab. */
    tab: z.string().optional().catch(undefined),
    view: z.object({ app_installed_team_id: maybeId }).nullish().catch(undefined),
  }),
});

/**
 * Reads an event as the opening of Home; undefined for any other event, and for another tab. The actor's channel is the user's
 * conversation with the app.
 */
export function readHomeOpened(body: unknown) {
  const read = homeEvent.safeParse(body).data;
  if (!read || (read.event.tab ?? 'home') !== 'home') return undefined;
  const { event, team_id: team } = read;
  const place = placeOfEvent(read);
  const { workspaceId, orgId } = place;
  // If the user is from another organization, `team_id` is their team.
  const homeTeamId = team && team !== workspaceId && !orgId ? team : undefined;
  return { place, actor: { workspaceId, userId: event.user, channelId: event.channel, homeTeamId } };
}

const revocationEvent = z.object({
  team_id: maybeId,
  enterprise_id: maybeId,
  event_time: z.number().positive(),
  event: z.object({
    type: z.enum(['app_uninstalled', 'tokens_revoked']),
    /** The IDs of users whose tokens were revoked, not tokens. */
    tokens: z
      .object({ bot: z.array(z.unknown()).catch([]) })
      .nullish()
      .catch(undefined),
  }),
});

/** Reads an event as a revocation; undefined for any other event, and for tokens of users, of which the app has none. */
export function readRevocation(body: unknown) {
  const read = revocationEvent.safeParse(body).data;
  if (!read) return undefined;
  const { team_id, enterprise_id, event, event_time } = read;
  if (event.type === 'tokens_revoked' && (event.tokens?.bot.length ?? 0) === 0) return undefined;
  return {
    /** The installations that it may be about, the workspace's and the organization's: the token of each is tested. */
    ids: [team_id, enterprise_id].filter((id) => id !== undefined && id !== null),
    /** Epoch milliseconds, by Slack's clock. */
    at: event_time * 1000,
  };
}

export type Revocation = NonNullable<ReturnType<typeof readRevocation>>;

/** The shape of a step's input, which is null, absent or empty if it was left out. */
const input = z.string().max(20_000).default('').catch('');

const stepEvent = z.object({
  ...eventPlace,
  /** In seconds. */
  event_time: z.number().int().min(0).optional().catch(undefined),
  event: z.object({
    type: z.literal('function_executed'),
    function: z.object({ callback_id: z.string() }).transform((step) => ({ id: step.callback_id })),
    function_execution_id: z.string().min(1).max(200),
    inputs: z.object({ action: input, server: input, key: input, channel: input }),
    bot_access_token: input,
  }),
});

/** The app's step in workflows with its inputs and outputs, as in `manifest.workflow.yml`. */
export const STEP = {
  id: 'power_action',
  inputs: ['action', 'server', 'key', 'channel'],
  outputs: ['message', 'server', 'state'],
} as const;

export type StepOutputs = Readonly<Record<(typeof STEP.outputs)[number], string>>;

/** Reads an event as the execution of a step, which may be one of another version; undefined for any other event. */
export function readStep(body: unknown) {
  const read = stepEvent.safeParse(body).data;
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
    } satisfies StepEvent,
  };
}

function secretOf(text: string): Secret<string> | undefined {
  const trimmed = text.trim();
  return trimmed === '' ? undefined : new Secret(trimmed);
}
