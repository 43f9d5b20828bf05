import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { ChannelId, UserId, WorkspaceId } from '../core/ids.ts';
import { withTimeout } from '../core/promises.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { System } from '../system.ts';
import type { SlackAnswer, SlackApi, SlackClients } from './slack-api.ts';

/** The parts of a user's Slack profile (`users.info`, `users.list`) that roles depend on. */
export interface SlackUser {
  readonly isAdmin: boolean;
  readonly isGuest: boolean;
  readonly isBot: boolean;
  readonly isDeactivated: boolean;
  /** Whether the user is from another organization (Slack Connect). */
  readonly isStranger: boolean;
  /** The IDs of the workspaces that Slack lists the user as a member of: several in Enterprise Grid. */
  readonly teamIds: readonly string[];
  /** The IANA name of the time zone in their profile. */
  readonly timeZone?: string;
}

export interface FreshOption {
  /** Bypasses the cache: for what changes access or spends money. Default: false. */
  readonly isFresh?: boolean;
}

/**
 * Whether Slack knows a user ID. `invisible`: Slack doesn't show this user to the app, which doesn't prove that they aren't a
 * member. `hidden`: the app lacks the scope `users:read`. `unknown`: Slack did not answer; only then can another try help.
 */
type Existence = 'yes' | 'no' | 'invisible' | 'hidden' | 'unknown';

export interface UserGroup {
  readonly id: string;
  /** The name in a mention, without the @. */
  readonly handle: string;
  readonly name: string;
  readonly isDisabled: boolean;
}

/** How long an answer counts (docs/design.md 3.5): long enough to spare Slack, short enough for lost roles to end soon. */
const CACHED_MS = 5 * MINUTE_MS;
const FAILURE_CACHED_MS = 30_000;
/** How long a caller waits for Slack: a submission has to be answered within 3 s. */
const WAIT_MS = 2000;
const MOST_CACHED = 10_000;

/** How long an answer counts while Slack limits how often it is asked (docs/design.md 3.5). */
const LAST_GOOD_MS = 15 * MINUTE_MS;

/** Slack was asked too often, and answers again after `forMs` milliseconds. */
export class RateLimited {
  readonly forMs: number;

  constructor(forMs = FAILURE_CACHED_MS) {
    this.forMs = forMs;
  }
}

function limitIn({ error, retryAfterMs }: Refused): RateLimited | undefined {
  return error === 'ratelimited' ? new RateLimited(retryAfterMs) : undefined;
}

type Refused = Extract<SlackAnswer, { readonly ok: false }>;

/** The cached state of one look-up. Times are on the monotonic clock. */
interface Entry<Answer> {
  readonly answer: Promise<Answer | undefined>;
  /** When Slack may be asked again; infinite while a request is under way. */
  until: number;
  /** Whether Slack limits the app: then it isn't asked before `until`, not even for a fresh answer. */
  isLimited: boolean;
  /** The last good answer, and when Slack was asked for it. */
  good: { readonly answer: Answer; readonly at: number } | undefined;
}

/** A request to Slack: the answer, undefined if there is none, or that Slack wants to be asked later. */
type Lookup<Answer> = Promise<Answer | RateLimited | undefined>;

/**
 * Creates a cached look-up by key; undefined is a failure, which counts for half a minute. Callers that ask for the same key at the
 * same time share one request, also those who want a fresh answer; each waits 2 s at most, and a later answer is cached for the
 * next caller. While Slack limits the app, the last good answer counts for a quarter of an hour, except as a fresh one. `freshMs`: how
 * old a fresh answer may be, where Slack allows few requests.
 * @throws what `ask` throws
 */
export function cacheLookups<Answer>(
  ask: (key: string) => Lookup<Answer>,
  system: System,
  { cachedMs = CACHED_MS, freshMs = 0 } = {},
): (key: string, isFresh?: boolean) => Promise<Answer | undefined> {
  // Limited by size: a cache that is limited by its number of entries allocates all of them at the start.
  const entries = new LRUCache<string, Entry<Answer>>({ maxSize: MOST_CACHED, sizeCalculation: () => 1 });
  const ageOf = ({ good }: Entry<Answer>) => (good ? system.elapsed() - good.at : Number.POSITIVE_INFINITY);
  const isDue = (entry: Entry<Answer>, isFresh: boolean) => {
    if (entry.until <= system.elapsed()) return true;
    const isPending = entry.until === Number.POSITIVE_INFINITY;
    return isFresh && !isPending && !entry.isLimited && ageOf(entry) >= freshMs;
  };
  return async (key, isFresh = false) => {
    let entry = entries.get(key);
    if (!entry || isDue(entry, isFresh)) {
      entry = begin(ask(key), system, cachedMs, entry?.good);
      entries.set(key, entry);
    }
    const isPending = entry.until === Number.POSITIVE_INFINITY;
    const answer = await (isPending ? withTimeout(entry.answer, system, WAIT_MS) : entry.answer);
    if (answer !== undefined || isFresh) return answer;
    return ageOf(entry) < (entry.isLimited ? LAST_GOOD_MS : cachedMs) ? entry.good?.answer : undefined;
  };
}

function begin<Answer>(
  lookup: Lookup<Answer>,
  system: System,
  cachedMs: number,
  good: Entry<Answer>['good'],
): Entry<Answer> {
  const at = system.elapsed();
  const read = (found: Answer | RateLimited | undefined): Answer | undefined => {
    const now = system.elapsed();
    if (found instanceof RateLimited) {
      Object.assign(entry, { until: now + found.forMs, isLimited: true });
      return undefined;
    }
    entry.until = found === undefined ? now + FAILURE_CACHED_MS : at + cachedMs;
    if (found !== undefined) entry.good = { answer: found, at };
    return found;
  };
  const failed = (error: unknown): never => {
    entry.until = system.elapsed() + FAILURE_CACHED_MS;
    throw error;
  };
  const answer = lookup.then(read, failed);
  const entry: Entry<Answer> = { answer, until: Number.POSITIVE_INFINITY, isLimited: false, good };
  answer.catch(() => undefined);
  return entry;
}

const slackUser = z.object({
  team_id: z.string().optional(),
  deleted: z.boolean().default(false),
  is_admin: z.boolean().default(false),
  is_owner: z.boolean().default(false),
  is_restricted: z.boolean().default(false),
  is_ultra_restricted: z.boolean().default(false),
  is_stranger: z.boolean().default(false),
  is_bot: z.boolean().default(false),
  tz: z.string().nullish().catch(undefined),
  /** In an Enterprise Grid: all workspaces of the organization that they are in. */
  enterprise_user: z.object({ teams: z.array(z.string()).default([]) }).nullish(),
});

export type Users = ReturnType<typeof createUsers>;

/** Creates the cached look-up of users (`users.info`, scope `users:read`). Each waits 2 s for Slack at most and never throws. */
export function createUsers(clients: SlackClients, system: System) {
  const look = cacheLookups((key) => {
    const [workspaceId = '', userId = ''] = key.split(' ');
    return lookUpUser(userId, clients.of(workspaceId));
  }, system);
  const findCached = (workspaceId: string, userId: string, { isFresh = false }: FreshOption = {}) =>
    look(`${workspaceId} ${userId}`, isFresh);
  return {
    /** Finds a user; undefined if the user can't be looked up, so that only grants to this user ID count. */
    find: async (workspaceId: string, userId: string, options?: FreshOption) => {
      const found = await findCached(workspaceId, userId, options);
      return typeof found === 'string' ? undefined : found;
    },
    /** Whether Slack knows the user: tells why `find` returns undefined. Calls of both at the same time share one request. */
    exists: async (workspaceId: string, userId: string, options?: FreshOption): Promise<Existence> => {
      const found = await findCached(workspaceId, userId, options);
      if (typeof found === 'string') return found;
      return found === undefined ? 'unknown' : 'yes';
    },
  };
}

/** Slack's own bot, of which Slack says that it is none. */
const SLACKBOT = 'USLACKBOT';

type NoUser = Exclude<Existence, 'yes' | 'unknown'>;

/** The errors that are answers, too: no user has this ID, the app may not see them, or it may not ask. */
const NO_USER: Readonly<Record<string, NoUser>> = {
  user_not_found: 'no',
  user_not_visible: 'invisible',
  missing_scope: 'hidden',
};

async function lookUpUser(userId: string, slack: SlackApi): Lookup<SlackUser | NoUser> {
  const answer = await slack.findUser(userId);
  if (!answer.ok) return Object.hasOwn(NO_USER, answer.error) ? NO_USER[answer.error] : limitIn(answer);
  return readUser(userId, answer.user);
}

function readUser(userId: string, given: unknown): SlackUser | undefined {
  const user = slackUser.safeParse(given).data;
  if (!user) return undefined;
  const home = user.team_id === undefined ? [] : [user.team_id];
  return {
    isAdmin: user.is_admin || user.is_owner,
    isGuest: user.is_restricted || user.is_ultra_restricted,
    isBot: user.is_bot || userId === SLACKBOT,
    isDeactivated: user.deleted,
    isStranger: user.is_stranger,
    teamIds: [...new Set([...home, ...(user.enterprise_user?.teams ?? [])])],
    timeZone: user.tz ?? undefined,
  };
}

const slackGroups = z.array(
  z.object({
    id: z.string(),
    handle: z.string(),
    name: z.string().default(''),
    /** Epoch seconds; 0 for an enabled group. */
    date_delete: z.number().default(0),
    users: z.array(z.string()).exactOptional(),
  }),
);

/** A group; without `userIds` if Slack's answer has none. */
interface CachedGroup {
  readonly group: UserGroup;
  readonly userIds: readonly string[] | undefined;
}

/** How old a fresh answer may be: Slack allows about twenty calls a minute (tier 2), and a batch of renewals asks for each. */
const FRESH_MS = 4000;

export type Groups = ReturnType<typeof createGroups>;

/**
 * Creates the cached look-up of user groups and their members (`usergroups.list`, scope `usergroups:read`). One request answers for
 * all groups.
 */
export function createGroups(clients: SlackClients, system: System) {
  const findAll = cacheLookups((workspaceId) => lookUpGroups(clients.of(workspaceId)), system, {
    freshMs: FRESH_MS,
  });
  return {
    /** Lists all groups, disabled ones too; undefined without the scope, or if Slack does not answer. */
    list: async (workspaceId: WorkspaceId): Promise<readonly UserGroup[] | undefined> => {
      const all = await findAll(workspaceId);
      return all === HIDDEN ? undefined : all?.map(({ group }) => group);
    },
    /**
     * Lists the IDs of a group's members: none if the group is disabled or not listed, or without the scope. Undefined if Slack
     * does not answer. With `isFresh`, the answer is at most four seconds old (docs/design.md 4.2).
     */
    listMembers: async (workspaceId: WorkspaceId, groupId: string, { isFresh = false }: FreshOption = {}) => {
      const all = await findAll(workspaceId, isFresh);
      if (all === undefined) return undefined;
      // Without the scope, a later answer can't be another one.
      if (all === HIDDEN) return [];
      const known = all.find(({ group }) => group.id === groupId);
      return known && !known.group.isDisabled ? known.userIds : [];
    },
  };
}

/** The app may not read groups, so no group gives anyone a role. */
const HIDDEN = 'hidden';

async function lookUpGroups(slack: SlackApi): Lookup<readonly CachedGroup[] | typeof HIDDEN> {
  const answer = await slack.listGroups();
  if (!answer.ok) return answer.error === 'missing_scope' ? HIDDEN : limitIn(answer);
  return slackGroups.safeParse(answer.groups).data?.map(({ id, handle, name, date_delete, users }) => ({
    group: { id, handle, name, isDisabled: date_delete !== 0 },
    userIds: users,
  }));
}

const slackChannel = z.object({ is_archived: z.boolean().default(false) });
/** The shape of the fields that say who can read a channel. Without them, that isn't known. */
const sharing = z.object({ is_ext_shared: z.boolean(), is_pending_ext_shared: z.boolean().default(false) });

/** How long an answer about sharing counts: after that, a channel that was shared gets no more announcements. */
const SHARING_KNOWN_FOR_MS = 60_000;

export type Channels = ReturnType<typeof createChannels>;

/**
 * Creates the look-up of channels (`conversations.info`, `conversations.members`; scopes `channels:read`, `groups:read`). Caches only
 * whether a channel is shared with other organizations, for a minute, since that is asked before each announcement.
 */
export function createChannels(clients: SlackClients, system: System) {
  const findSharing = cacheLookups(
    async (key) => {
      const [workspaceId = '', channelId = ''] = key.split(' ');
      const answer = await clients.of(workspaceId).findChannel(channelId);
      if (!answer.ok) return limitIn(answer);
      const found = sharing.safeParse(answer.channel).data;
      return found && { isShared: found.is_ext_shared || found.is_pending_ext_shared };
    },
    system,
    { cachedMs: SHARING_KNOWN_FOR_MS },
  );
  return {
    /** Whether the user is a member; undefined without the scope or an answer, and for private channels without the app. */
    hasMember: (workspaceId: WorkspaceId, channelId: ChannelId, userId: UserId) =>
      withTimeout(findMember(clients.of(workspaceId), channelId, userId), system),
    /** Whether other organizations are members or invited (Slack Connect); undefined if Slack doesn't say. */
    isShared: async (workspaceId: WorkspaceId, channelId: ChannelId) =>
      (await findSharing(`${workspaceId} ${channelId}`))?.isShared,
    /** `unknown`: deleted, or private without the app. Undefined without the scope or an answer. */
    look: async (workspaceId: WorkspaceId, channelId: ChannelId) => {
      const answer = await withTimeout(clients.of(workspaceId).findChannel(channelId), system, WAIT_MS);
      if (!answer?.ok) return answer?.error === 'channel_not_found' ? 'unknown' : undefined;
      const channel = slackChannel.safeParse(answer.channel).data;
      return channel && (channel.is_archived ? 'archived' : 'there');
    },
  };
}

/** How many pages of members are read: with more, whether a user is a member stays unknown. */
const MOST_CHANNEL_PAGES = 5;

async function findMember(slack: SlackApi, channelId: string, userId: string): Promise<boolean | undefined> {
  let cursor = '';
  for (let page = 0; page < MOST_CHANNEL_PAGES; page++) {
    const answer = await slack.listMembers(channelId, cursor);
    if (!answer.ok) return undefined;
    if (answer.members.includes(userId)) return true;
    cursor = answer.cursor;
    if (cursor === '') return false;
  }
  return undefined;
}

/** How many pages of users are read for the list of admins: Slack allows about twenty calls a minute. */
const MOST_ADMIN_PAGES = 10;
const USERS_PER_PAGE = 500;

const userPage = z.object({
  members: z.array(z.looseObject({ id: z.string() })),
  response_metadata: z.object({ next_cursor: z.string().catch('') }).catch({ next_cursor: '' }),
});

interface Admins {
  readonly users: readonly (SlackUser & { readonly id: UserId })[];
  /** False if the workspace has more than 5,000 users, of which the app reads only the first. */
  readonly isComplete: boolean;
}

export type AdminList = ReturnType<typeof createAdmins>;

/** Creates the cached list of a workspace's admins (`users.list`, scope `users:read`). For display: it never gives a role. */
export function createAdmins(clients: SlackClients, system: System) {
  const find = cacheLookups((workspaceId) => lookUpAdmins(clients.of(workspaceId)), system);
  /** Lists the admins; undefined without the scope, or if Slack does not answer. */
  return { list: (workspaceId: WorkspaceId) => find(workspaceId) };
}

async function lookUpAdmins(slack: SlackApi): Lookup<Admins> {
  const users: Admins['users'][number][] = [];
  let cursor: string | undefined;
  for (let place = 0; place < MOST_ADMIN_PAGES; place++) {
    const answer = await slack.listUsers({ limit: USERS_PER_PAGE, cursor });
    if (!answer.ok) return limitIn(answer);
    const page = userPage.safeParse(answer.page).data;
    if (!page) return undefined;
    for (const given of page.members) {
      const user = readUser(given.id, given);
      if (user?.isAdmin) users.push({ id: given.id, ...user });
    }
    cursor = page.response_metadata.next_cursor;
    if (cursor === '') return { users, isComplete: true };
  }
  return { users, isComplete: false };
}
