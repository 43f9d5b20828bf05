import { textIn } from '../json.ts';
import type { Json } from '../page-api.ts';
import { WebApiError } from '../refusal.ts';
import type { UserGroup } from '../roster.ts';
import { SLACKBOT, type Team, type User } from '../workspace.ts';
import type { Grid, World } from '../world.ts';
import { required, type WebMethods } from './method.ts';

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
    run: (world, args) => listPage(world, args),
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

/** Slack gives no more than 1,000 at once, and fewer if it likes: here, three. */
const PAGE = 3;

function listPage(world: World, args: Json): Json {
  const limit = Number(args.limit ?? 0);
  if (!Number.isInteger(limit) || limit < 0 || limit > 1000) throw new WebApiError('invalid_limit');
  const cursor = textIn(args, 'cursor');
  const from = cursor === '' ? 0 : Number(/^dXNlcjp-(\d+)$/.exec(cursor)?.[1]);
  if (Number.isNaN(from)) throw new WebApiError('invalid_cursor');
  const people = world.roster.people();
  const next = from + Math.min(PAGE, limit || PAGE);
  return {
    members: people.slice(from, next).map((user) => describeUser(user, world)),
    response_metadata: { next_cursor: next < people.length ? `dXNlcjp-${next}` : '' },
  };
}

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
