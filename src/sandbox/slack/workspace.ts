import type { PageUser } from './page-api.ts';

export interface Team {
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
  name: 'alertmanager',
  realName: 'Alertmanager',
  isBot: true,
  title: 'another app',
};

export const ALL_USERS: readonly User[] = [...Object.values(USERS), BOT, OTHER_BOT];

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
function idIn(team: Team, id: string): string {
  const isEverywhere = team.id === TEAM.id || id === APP.botUserId || id === USERS.sam.id;
  return isEverywhere ? id : `${id.slice(0, 1)}${team.id.slice(2, 5)}${id.slice(1)}`;
}

/** A user group: `@oncall`. Tests may change who is in it, and switch it off. */
export interface UserGroup {
  readonly id: string;
  /** Without the @. */
  readonly handle: string;
  readonly name: string;
  /** Person ids. */
  readonly users: Set<string>;
  isDisabled: boolean;
}

function userIn(team: Team, user: User): User {
  return { ...user, id: idIn(team, user.id), teamId: user.teamId === TEAM.id ? team.id : user.teamId };
}

export class Roster {
  readonly #people: Map<string, User>;
  readonly #groups: readonly UserGroup[];
  #edition = 0;

  constructor(team: Team = TEAM) {
    this.#people = new Map(ALL_USERS.map((user) => userIn(team, user)).map((user) => [user.id, user]));
    this.#groups = USERGROUPS.map((group) => ({
      ...group,
      id: idIn(team, group.id),
      users: new Set(group.users.map((id) => idIn(team, id))),
      isDisabled: false,
    }));
  }

  /** Grows with every change of a user: names on a rendered screen may be others then. */
  get edition(): number {
    return this.#edition;
  }

  people(): readonly User[] {
    return [...this.#people.values()];
  }

  groups(): readonly UserGroup[] {
    return this.#groups;
  }

  /** Finds a user by Slack ID or handle, deactivated ones included. */
  findUser(idOrName: string): User | undefined {
    return this.#people.get(idOrName) ?? this.people().find((user) => user.name === idOrName);
  }

  /** Finds a group by id or by handle, disabled ones among them. */
  findGroup(idOrHandle: string): UserGroup | undefined {
    const handle = idOrHandle.replace(/^@/, '');
    return this.#groups.find((group) => group.id === idOrHandle || group.handle === handle);
  }

  put(user: User): void {
    this.#people.set(user.id, user);
    this.#edition += 1;
  }

  /** Removes a user from all groups, as Slack does when a user is deactivated. */
  leaveGroups(userId: string): void {
    for (const group of this.#groups) group.users.delete(userId);
  }
}

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
export function findChannel(channels: readonly Channel[], wanted: string, userId?: string) {
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
