import type { PageUser } from './page-api.ts';

/** One Slack workspace. */
export interface Team {
  /** `T…` */
  readonly id: string;
  readonly name: string;
  readonly domain: string;
}

export const TEAM = { id: 'T0SANDBOX', name: 'Sandbox', domain: 'sandbox' } as const;
/** A second workspace with the same app, for tests (`slack.addTeam`). */
export const SECOND_TEAM = { id: 'T0SECOND01', name: 'Second', domain: 'second' } as const;
export const OTHER_TEAM = { id: 'T0ACME0001', name: 'Acme', domain: 'acme' } as const;
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

/** The users of the sandbox, by the handle used in `slack.as(handle)`. */
export const USERS = {
  olga: {
    ...member,
    id: 'U0OWNER001',
    name: 'olga',
    realName: 'Olga Owner',
    isAdmin: true,
    title: 'Slack admin',
    timeZone: 'Europe/Berlin',
  },
  mara: { ...member, id: 'U0MANAGER1', name: 'mara', realName: 'Mara Manager', title: 'manager' },
  otto: { ...member, id: 'U0OPERATOR', name: 'otto', realName: 'Otto Operator', title: 'operator' },
  vera: { ...member, id: 'U0VIEWER01', name: 'vera', realName: 'Vera Viewer', title: 'viewer' },
  nora: { ...member, id: 'U0NOBODY01', name: 'nora', realName: 'Nora Newcomer', title: 'no role' },
  gus: {
    ...member,
    id: 'U0GUEST001',
    name: 'gus',
    realName: 'Gus Guest',
    isRestricted: true,
    title: 'guest',
  },
  sam: {
    ...member,
    id: 'U0STRANGER',
    name: 'sam',
    realName: 'Sam Partner',
    teamId: OTHER_TEAM.id,
    isExternal: true,
    title: 'other organization',
  },
  finn: {
    ...member,
    id: 'U0FORMER01',
    name: 'finn',
    realName: 'Finn Former',
    isDeactivated: true,
    title: 'deactivated',
  },
} as const satisfies Readonly<Record<string, User>>;

/** Who starts with which role of the app; Olga is an owner because she is an admin of the workspace. */
export const ROLE_HOLDERS = [
  { id: USERS.vera.id, role: 'viewer' },
  { id: USERS.otto.id, role: 'operator' },
  { id: USERS.mara.id, role: 'manager' },
] as const;

export type UserName = keyof typeof USERS;

const BOT: User = {
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
    users: [USERS.otto.id, USERS.nora.id] as readonly string[],
  },
  {
    id: 'S0PLATFORM',
    handle: 'platform',
    name: 'Platform team',
    users: [USERS.mara.id, USERS.vera.id] as readonly string[],
  },
] as const;

/** The ID that a user, group or channel of the first workspace has in another one: none exists in both. */
export function idIn(team: Team, id: string): string {
  const isEverywhere = team.id === TEAM.id || id === APP.botUserId || id === USERS.sam.id;
  return isEverywhere ? id : `${id.slice(0, 1)}${team.id.slice(2, 5)}${id.slice(1)}`;
}
