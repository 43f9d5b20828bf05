import { textIn } from '../json.ts';
import type { Json } from '../page-api.ts';
import { WebApiError } from '../refusal.ts';
import { EVERYBODY, findPerson, type Person, TEAM, USERGROUPS } from '../workspace.ts';
import { required, type WebMethods } from './method.ts';

export const peopleMethods: WebMethods = {
  'users.info': {
    scopes: ['users:read'],
    run: (_world, args) => {
      const person = findPerson(required(args, 'user'));
      if (!person || person.id !== args.user) throw new WebApiError('user_not_found');
      return { user: describePerson(person) };
    },
  },
  'users.list': {
    scopes: ['users:read'],
    run: () => ({ members: EVERYBODY.map(describePerson), response_metadata: { next_cursor: '' } }),
  },
  'usergroups.list': {
    scopes: ['usergroups:read'],
    run: (_world, args) => ({
      usergroups: USERGROUPS.map(({ users, ...group }) => ({
        ...group,
        team_id: TEAM.id,
        is_usergroup: true,
        date_delete: 0,
        user_count: users.length,
        ...(textIn(args, 'include_users') === 'true' || args.include_users === true ? { users } : {}),
      })),
    }),
  },
  'usergroups.users.list': {
    scopes: ['usergroups:read'],
    run: (_world, args) => {
      const group = USERGROUPS.find((each) => each.id === required(args, 'usergroup'));
      if (!group) throw new WebApiError('no_such_subteam');
      return { users: group.users };
    },
  },
};

function describePerson(person: Person): Json {
  return {
    id: person.id,
    team_id: person.teamId,
    name: person.name,
    deleted: false,
    real_name: person.realName,
    tz: 'Etc/UTC',
    profile: { real_name: person.realName, display_name: person.name, team: person.teamId },
    is_admin: person.isAdmin,
    is_owner: false,
    is_primary_owner: false,
    is_restricted: person.isRestricted,
    is_ultra_restricted: false,
    is_bot: person.isBot,
    is_app_user: false,
    ...(person.isStranger ? { is_stranger: true } : {}),
  };
}
