import { textIn } from '../json.ts';
import type { Json } from '../page-api.ts';
import { WebApiError } from '../refusal.ts';
import {
  APP,
  type Channel,
  describeChannel,
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
};

function getReadable(world: World, args: Json): Channel {
  const channel = getVisibleChannel(world, required(args, 'channel'));
  const needed = READ[channel.kind];
  if (world.app.scopes.includes(needed)) return channel;
  world.journal.breakRule('missing_scope', `conversations.*: ${needed} is needed for ${channel.name}`);
  throw new WebApiError('missing_scope', { needed, provided: world.app.scopes.join(',') });
}

export const userMethods: WebMethods = {
  'bots.info': {
    scopes: ['users:read'],
    run: (_world, args) => {
      if (required(args, 'bot') !== APP.botId) throw new WebApiError('bot_not_found');
      return {
        bot: { id: APP.botId, app_id: APP.id, user_id: APP.botUserId, name: APP.name, deleted: false },
      };
    },
  },
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
      const { page, response_metadata } = pageOf(world.roster.people(), args);
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
const AT_ONCE = 3;

/**
 * One page of a list, with the cursor of the next; it is empty behind the last one (Slack's "Pagination" page). Slack may give
 * fewer than were asked for before the end of the list: here it always does.
 * @throws WebApiError invalid_limit, invalid_cursor
 */
function pageOf<Item>(items: readonly Item[], args: Json) {
  const limit = args.limit === undefined ? AT_ONCE : Number(args.limit);
  if (!Number.isInteger(limit) || limit < 0 || limit > MOST) throw new WebApiError('invalid_limit');
  const start = readCursor(textIn(args, 'cursor'));
  const end = start + Math.min(limit || AT_ONCE, AT_ONCE);
  const next = end < items.length ? Buffer.from(`from:${end}`).toString('base64') : '';
  return { page: items.slice(start, end), response_metadata: { next_cursor: next } };
}

function readCursor(cursor: string): number {
  if (cursor === '') return 0;
  const start = /^from:(\d{1,9})$/.exec(Buffer.from(cursor, 'base64').toString())?.[1];
  if (start === undefined) throw new WebApiError('invalid_cursor');
  return Number(start);
}
