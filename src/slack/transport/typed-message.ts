import { z } from 'zod';
import type { RequestPlace } from '../../app/installations/ports.ts';
import type { Actor } from '../../domain/actor.ts';
import type { Thread } from '../../domain/thread.ts';
import { eventPlace, placeOfEvent } from './event-place.ts';

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
