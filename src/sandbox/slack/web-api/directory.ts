import { textIn } from '../json.ts';
import type { Json } from '../page-api.ts';
import { WebApiError } from '../refusal.ts';
import {
  APP,
  type Channel,
  describeChannel,
  findChannel,
  SLACKBOT,
  type Team,
  type User,
  type UserGroup,
} from '../workspace.ts';
import type { Grid, World } from '../world.ts';
import { getVisibleChannel, required, type WebMethods } from './method.ts';

const READ = {
  public: 'channels:read',
  shared: 'channels:read',
  private: 'groups:read',
  dm: 'im:read',
} as const;
const reading = Object.values(READ);

export const conversationMethods: WebMethods = {
  'conversations.info': {
    scopes: reading,
    run: (world, args) => ({ channel: describeChannel(getReadable(world, args), world.team) }),
  },
  'conversations.members': {
    scopes: reading,
    run: (world, args) => ({
      members: [...getReadable(world, args).members],
      response_metadata: { next_cursor: '' },
    }),
  },
  'conversations.list': {
    scopes: reading,
    run: listChannels,
  },
  'conversations.open': {
    scopes: ['im:write'],
    run: (world, args) => {
      const channel = findChannel(world.channels, 'dm', required(args, 'users'));
      if (!channel) throw new WebApiError('user_not_found');
      return { channel: { id: channel.id } };
    },
  },
};

/** Each type that is asked for needs its scope, also where there is no such channel. */
function listChannels(world: World, args: Json): Json {
  const types = (textIn(args, 'types') || 'public_channel').split(',');
  for (const type of types) {
    const kind = KINDS[type];
    if (kind === undefined) throw new WebApiError('invalid_types');
    needScope(world, kind, type);
  }
  const listed = world.channels.filter((channel) => types.includes(typeOf(channel)) && isVisible(channel));
  const { page, response_metadata } = pageOf(listed, args, { least: 1, atOnce: 2 });
  return { channels: page.map((channel) => describeChannel(channel, world.team)), response_metadata };
}

const KINDS: Readonly<Record<string, Channel['kind']>> = {
  public_channel: 'public',
  private_channel: 'private',
  im: 'dm',
};

function typeOf(channel: Channel): string {
  if (channel.kind === 'dm') return 'im';
  return channel.kind === 'private' ? 'private_channel' : 'public_channel';
}

function isVisible(channel: Channel): boolean {
  return channel.kind !== 'private' || channel.members.has(APP.botUserId);
}

function getReadable(world: World, args: Json): Channel {
  const channel = getVisibleChannel(world, required(args, 'channel'));
  needScope(world, channel.kind, typeOf(channel));
  return channel;
}

function needScope(world: World, kind: Channel['kind'], type: string): void {
  const needed = READ[kind];
  if (world.app.scopes.includes(needed)) return;
  world.journal.breakRule('missing_scope', `conversations.*: ${needed} is needed for ${type}s`);
  throw new WebApiError('missing_scope', { needed, provided: world.app.scopes.join(',') });
}

export const userMethods: WebMethods = {
  'users.info': {
    scopes: ['users:read'],
    run: (world, args) => {
      const id = required(args, 'user');
      const user = id === SLACKBOT ? slackbot(world) : world.roster.findUser(id);
      if (user?.id !== id) throw new WebApiError('user_not_found');
      return { user: describeUser(user, world) };
    },
  },
  'users.list': {
    scopes: ['users:read'],
    run: (world, args) => {
      const { page, response_metadata } = pageOf(world.roster.people(), args, { least: 0, atOnce: 3 });
      return { members: page.map((user) => describeUser(user, world)), response_metadata };
    },
  },
  'usergroups.list': {
    scopes: ['usergroups:read'],
    run: (world, args) => ({
      usergroups: world.roster
        .groups()
        .filter((group) => !group.isDisabled || isSet(args, 'include_disabled'))
        .map((group) => describeGroup(group, args, world.team)),
    }),
  },
  'usergroups.users.list': {
    scopes: ['usergroups:read'],
    run: (world, args) => {
      const id = required(args, 'usergroup');
      const group = world.roster.findGroup(id);
      const isHidden = group?.isDisabled && !isSet(args, 'include_disabled');
      if (group?.id !== id || isHidden) throw new WebApiError('no_such_subteam');
      return { users: [...group.users] };
    },
  },
};

/** Booleans come as text in forms, and as 1 from older libraries. */
function isSet(args: Json, field: string): boolean {
  return args[field] === true || ['true', '1'].includes(textIn(args, field));
}

function describeGroup(group: UserGroup, args: Json, team: Team): Json {
  const { id, handle, name, users, isDisabled } = group;
  return {
    id,
    team_id: team.id,
    is_usergroup: true,
    is_subteam: true,
    name,
    description: '',
    handle,
    is_external: false,
    // Slack gives the second of the switching-off; that it is not 0 is what tells.
    date_delete: isDisabled ? 1_700_000_000 : 0,
    ...(isSet(args, 'include_count') ? { user_count: users.size } : {}),
    ...(isSet(args, 'include_users') ? { users: [...users] } : {}),
  };
}

/** Deactivated users lack the fields about their rights; users of other organizations never have them. */
function describeUser(user: User, { grid, team }: World): Json {
  const profile = { real_name: user.realName, display_name: user.name, team: user.teamId };
  const common = {
    id: user.id,
    team_id: user.teamId,
    name: user.name,
    deleted: user.isDeactivated,
    profile,
    is_bot: user.isBot,
    is_app_user: false,
  };
  if (user.isDeactivated) return common;
  return {
    ...common,
    real_name: user.realName,
    tz: user.timeZone ?? 'Etc/UTC',
    is_admin: user.isAdmin,
    is_owner: false,
    is_primary_owner: false,
    is_restricted: user.isRestricted,
    is_ultra_restricted: false,
    ...(user.isExternal ? { is_stranger: true } : {}),
    ...(grid && !user.isExternal ? { enterprise_user: describeEnterpriseUser(user, grid, team) } : {}),
  };
}

function describeEnterpriseUser(user: User, { id, name }: Grid, team: Team): Json {
  return {
    id: user.id,
    enterprise_id: id,
    enterprise_name: name,
    is_admin: false,
    is_owner: false,
    teams: [team.id],
  };
}

/** Slackbot is listed by no method, and says of itself that it is no bot. */
function slackbot(world: World): User | undefined {
  const member = world.roster.findUser('nora');
  return member && { ...member, id: SLACKBOT, name: 'slackbot', realName: 'Slackbot' };
}

const MOST = 1000;

/**
 * One page of a list, with the cursor of the next; it is empty behind the last one (Slack's "Pagination" page). Slack may give
 * fewer than were asked for before the end of the list: here it always does.
 * @throws WebApiError invalid_limit, invalid_cursor
 */
function pageOf<Item>(
  items: readonly Item[],
  args: Json,
  { least, atOnce }: { readonly least: number; readonly atOnce: number },
): { readonly page: readonly Item[]; readonly response_metadata: Json } {
  const limit = args.limit === undefined ? atOnce : Number(args.limit);
  if (!Number.isInteger(limit) || limit < least || limit > MOST) throw new WebApiError('invalid_limit');
  const start = readCursor(textIn(args, 'cursor'));
  const end = start + Math.min(limit || atOnce, atOnce);
  const next = end < items.length ? Buffer.from(`from:${end}`).toString('base64') : '';
  return { page: items.slice(start, end), response_metadata: { next_cursor: next } };
}

function readCursor(cursor: string): number {
  if (cursor === '') return 0;
  const start = /^from:(\d{1,9})$/.exec(Buffer.from(cursor, 'base64').toString())?.[1];
  if (start === undefined) throw new WebApiError('invalid_cursor');
  return Number(start);
}
