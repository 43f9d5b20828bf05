import type { PageUser } from './page-api.ts';

export const TEAM = { id: 'T0SANDBOX', name: 'Sandbox', domain: 'sandbox' } as const;
export const OTHER_TEAM = { id: 'T0ELSEWHERE', name: 'Elsewhere', domain: 'elsewhere' } as const;
export const APP = { id: 'A0VPSAPP01', name: 'vps', botId: 'B0VPSBOT01', botUserId: 'U0VPSBOT01' } as const;
/** Slack's own voice: notices such as operation_timeout. */
export const SLACKBOT = 'USLACKBOT';

export type User = PageUser;

const member = {
  teamId: TEAM.id,
  isAdmin: false,
  isRestricted: false,
  isExternal: false,
  isBot: false,
  isDeactivated: false,
} as const;

/** Everybody in the sandbox, by the name used in `slack.as(name)`. */
export const USERS = {
  owner: {
    ...member,
    id: 'U0OWNER001',
    name: 'owner',
    realName: 'Olga Owner',
    isAdmin: true,
    title: 'Slack admin',
  },
  manager: { ...member, id: 'U0MANAGER1', name: 'manager', realName: 'Mara Manager', title: 'manager' },
  operator: { ...member, id: 'U0OPERATOR', name: 'operator', realName: 'Otto Operator', title: 'operator' },
  viewer: { ...member, id: 'U0VIEWER01', name: 'viewer', realName: 'Vera Viewer', title: 'viewer' },
  nobody: { ...member, id: 'U0NOBODY01', name: 'nobody', realName: 'Nora Nobody', title: 'no role' },
  guest: {
    ...member,
    id: 'U0GUEST001',
    name: 'guest',
    realName: 'Gus Guest',
    isRestricted: true,
    title: 'guest',
  },
  stranger: {
    ...member,
    id: 'U0STRANGER',
    name: 'stranger',
    realName: 'Stan Stranger',
    teamId: OTHER_TEAM.id,
    isExternal: true,
    title: 'other organisation',
  },
  former: {
    ...member,
    id: 'U0FORMER01',
    name: 'former',
    realName: 'Finn Former',
    isDeactivated: true,
    title: 'deactivated',
  },
} as const satisfies Readonly<Record<string, User>>;

export type UserName = keyof typeof USERS;

export const BOT: User = {
  ...member,
  id: APP.botUserId,
  name: APP.name,
  realName: APP.name,
  isBot: true,
  title: 'app',
};

/** Another app's bot user, in #ops as many are. */
export const OTHER_BOT: User = {
  ...member,
  id: 'U0DEPLOYER',
  name: 'deployer',
  realName: 'Deployer',
  isBot: true,
  title: 'another app',
};

export const ALL_USERS: readonly User[] = [...Object.values(USERS), BOT, OTHER_BOT];

/** The user groups of a fresh workspace. */
export const USERGROUPS = [
  {
    id: 'S0ONCALL01',
    handle: 'oncall',
    name: 'On call',
    users: [USERS.operator.id, USERS.nobody.id] as readonly string[],
  },
  {
    id: 'S0PLATFORM',
    handle: 'platform',
    name: 'Platform team',
    users: [USERS.manager.id, USERS.viewer.id] as readonly string[],
  },
] as const;
