import { APP, idIn, OTHER_BOT, OTHER_TEAM, type Team, USERS } from './workspace.ts';

export interface Channel {
  readonly id: string;
  readonly name: string;
  readonly kind: 'public' | 'private' | 'shared' | 'dm';
  /** User IDs, the bot's included; tests may change it. */
  readonly members: Set<string>;
  isArchived: boolean;
  /** Another organization has been invited and has not accepted yet. */
  isPendingShared: boolean;
}

const { olga, mara, otto, vera, nora, gus, sam } = USERS;
const bot = APP.botUserId;
const colleagues = [olga.id, mara.id, otto.id, vera.id, nora.id];

function channel(id: string, name: string, kind: Channel['kind'], members: readonly string[]): Channel {
  return { id, name, kind, members: new Set(members), isArchived: false, isPendingShared: false };
}

/** Makes a user's conversation with the app. */
export function conversationWith(userId: string): Channel {
  return channel(`D${userId.slice(1)}`, APP.name, 'dm', [userId, bot]);
}

/** Makes the channels of a new workspace, and each user's conversation with the app. */
export function createChannels(team: Team): Channel[] {
  return FIRST_CHANNELS.map(([id, name, kind, members]) =>
    channel(
      idIn(team, id),
      name,
      kind,
      members.map((member) => idIn(team, member)),
    ),
  ).concat([...colleagues, gus.id].map((id) => conversationWith(idIn(team, id))));
}

const FIRST_CHANNELS: readonly (readonly [string, string, Channel['kind'], readonly string[]])[] = [
  ['C0GENERAL1', 'general', 'public', [...colleagues, gus.id, bot]],
  ['C0OPS00001', 'ops', 'public', [...colleagues, gus.id, bot, OTHER_BOT.id]],
  ['C0RANDOM01', 'random', 'public', colleagues],
  ['C0PRIVATE1', 'management', 'private', [olga.id, mara.id]],
  ['C0SHARED01', 'acme-shared', 'shared', [olga.id, mara.id, otto.id, sam.id, bot]],
];

/** Finds a channel by id, `#name`, or for one user `dm`. */
export function findChannel(
  channels: readonly Channel[],
  wanted: string,
  userId?: string,
): Channel | undefined {
  if (userId && ['dm', `@${APP.name}`].includes(wanted))
    return channels.find((each) => each.kind === 'dm' && each.members.has(userId));
  const name = wanted.replace(/^#/, '');
  return channels.find((each) => each.id === wanted || (each.kind !== 'dm' && each.name === name));
}

/** The name that payloads give a channel: Slack hides those of private ones. */
export function payloadName(channel: Channel): string {
  if (channel.kind === 'dm') return 'directmessage';
  return channel.kind === 'private' ? 'privategroup' : channel.name;
}

/** A channel as the conversations methods describe it. */
export function describeChannel(channel: Channel, team: Team): Record<string, unknown> {
  const isDm = channel.kind === 'dm';
  return {
    id: channel.id,
    ...(isDm ? { user: [...channel.members].find((id) => id !== bot) } : { name: channel.name }),
    is_channel: !isDm,
    is_group: false,
    is_im: isDm,
    is_mpim: false,
    is_private: isDm || channel.kind === 'private',
    is_archived: channel.isArchived,
    is_general: channel.name === 'general',
    is_shared: channel.kind === 'shared',
    is_ext_shared: channel.kind === 'shared',
    is_pending_ext_shared: channel.isPendingShared,
    is_org_shared: false,
    is_member: channel.members.has(bot),
    context_team_id: team.id,
    ...(channel.kind === 'shared' ? { shared_team_ids: [team.id, OTHER_TEAM.id] } : {}),
    num_members: channel.members.size,
  };
}
