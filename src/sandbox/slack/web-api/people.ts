import { textIn } from '../json.ts';
import type { Json } from '../page-api.ts';
import { WebApiError } from '../refusal.ts';
import type { UserGroup } from '../roster.ts';
import { type Person, SLACKBOT, TEAM } from '../workspace.ts';
import type { Grid, World } from '../world.ts';
import { required, type WebMethods } from './method.ts';

export const peopleMethods: WebMethods = {
  'users.info': {
    scopes: ['users:read'],
    run: (world, args) => {
      const id = required(args, 'user');
      const person = id === SLACKBOT ? slackbot(world) : world.roster.findPerson(id);
      if (person?.id !== id) throw new WebApiError('user_not_found');
      return { user: describePerson(person, world.grid) };
    },
  },
  'users.list': {
    scopes: ['users:read'],
    run: (world) => ({
      members: world.roster.people().map((person) => describePerson(person, world.grid)),
      response_metadata: { next_cursor: '' },
    }),
  },
  'usergroups.list': {
    scopes: ['usergroups:read'],
    run: (world, args) => ({
      usergroups: world.roster
        .groups()
        .filter((group) => !group.isDisabled || isSet(args, 'include_disabled'))
        .map((group) => describeGroup(group, args)),
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

function describeGroup(group: UserGroup, args: Json): Json {
  const { id, handle, name, users, isDisabled } = group;
  return {
    id,
    team_id: TEAM.id,
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

/** Deactivated people have lost the fields about their standing; people of other organisations never show them. */
function describePerson(person: Person, grid: Grid | undefined): Json {
  const profile = { real_name: person.realName, display_name: person.name, team: person.teamId };
  const common = {
    id: person.id,
    team_id: person.teamId,
    name: person.name,
    deleted: person.isDeactivated,
    profile,
    is_bot: person.isBot,
    is_app_user: false,
  };
  if (person.isDeactivated) return common;
  return {
    ...common,
    real_name: person.realName,
    tz: 'Etc/UTC',
    is_admin: person.isAdmin,
    is_owner: false,
    is_primary_owner: false,
    is_restricted: person.isRestricted,
    is_ultra_restricted: false,
    ...(person.isStranger ? { is_stranger: true } : {}),
    ...(grid && !person.isStranger ? { enterprise_user: describeEnterpriseUser(person, grid) } : {}),
  };
}

function describeEnterpriseUser(person: Person, { id, name }: Grid): Json {
  return {
    id: person.id,
    enterprise_id: id,
    enterprise_name: name,
    is_admin: false,
    is_owner: false,
    teams: [TEAM.id],
  };
}

/** Slackbot is listed by no method, and says of itself that it is no bot. */
function slackbot(world: World): Person | undefined {
  const nobody = world.roster.findPerson('nobody');
  return nobody && { ...nobody, id: SLACKBOT, name: 'slackbot', realName: 'Slackbot' };
}
