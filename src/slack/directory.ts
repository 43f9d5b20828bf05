import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Channels } from '../access/grants.ts';
import type { AdminList, Admins, Existence, Groups, SlackUser, UserGroup, Users } from '../core/directory.ts';
import { withTimeout } from '../core/locks.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { System } from '../system.ts';
import type { SlackApi, SlackClients } from './slack-api.ts';

/** Long enough to spare Slack, short enough for a revoked role to stop counting soon. */
const CACHED_MS = 5 * MINUTE_MS;
/** Without the scope, or with Slack down, it is asked again after this time. */
const FAILURE_CACHED_MS = 30_000;
/** A submission has to be answered within 3 s: what Slack has not said by then counts as unknown. */
const WAIT_MS = 2000;
const MOST_CACHED = 10_000;

/** While Slack limits us, an answer counts for this long: after that, a revoked role might still count. */
const LAST_GOOD_MS = 15 * 60_000;

/** Slack does not answer because it was asked too often; it will again after this time. */
export class RateLimited {
  readonly forMs: number;

  constructor(forMs = FAILURE_CACHED_MS) {
    this.forMs = forMs;
  }
}

/** For how long answers count, in milliseconds. */
interface GoodFor {
  /** Default: five minutes. */
  readonly cachedMs?: number;
  /** For those who want a fresh answer, where Slack allows few requests. Default: not at all. */
  readonly freshMs?: number;
}

interface Good<Answer> {
  readonly answer: Answer;
  /** When it was asked for, on the monotonic clock. */
  readonly at: number;
}

/** Times are on the monotonic clock. */
interface Entry<Answer> {
  /** What the last request brought; undefined where it failed. */
  readonly answer: Promise<Answer | undefined>;
  /** Slack is asked again after that; infinite while it has not answered. */
  until: number;
  /** Slack limits us, and is asked by nobody before `until`. */
  isLimited: boolean;
  good: Good<Answer> | undefined;
}

/** What Slack says: the answer, undefined when it can't be had, or that Slack wants to be asked later. */
type Lookup<Answer> = Promise<Answer | RateLimited | undefined>;

/**
 * Asks Slack by key and caches the answer, a failure (undefined) for half a minute. While Slack limits us, the last good
 * answer goes on counting for a quarter of an hour, except for those who want a fresh one. Callers that ask for the same
 * key at the same time share one request, also those who want a fresh answer; each waits 2 s at most, and a later answer
 * is cached for the next one.
 */
export function cacheLookups<Answer>(
  ask: (key: string) => Lookup<Answer>,
  system: System,
  { cachedMs = CACHED_MS, freshMs = 0 }: GoodFor = {},
): (key: string, isFresh?: boolean) => Promise<Answer | undefined> {
  // By size: a cache with a number of entries makes room for all of them at the start, which takes milliseconds.
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
  good: Good<Answer> | undefined,
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

/** Asks Slack who a user is (`users.info`, scope `users:read`), and caches the answer for a while. */
export function createUsers(clients: SlackClients, system: System): Users {
  const look = cacheLookups((key) => {
    const [workspaceId = '', userId = ''] = key.split(' ');
    return lookUpUser(userId, clients.of(workspaceId));
  }, system);
  const findCached = (workspaceId: string, userId: string, isFresh = false) =>
    look(`${workspaceId} ${userId}`, isFresh);
  return {
    find: async (workspaceId, userId, { isFresh = false } = {}) => {
      const found = await findCached(workspaceId, userId, isFresh);
      return typeof found === 'string' ? undefined : found;
    },
    exists: async (workspaceId, userId, { isFresh = false } = {}) => {
      const found = await findCached(workspaceId, userId, isFresh);
      if (typeof found === 'string') return found;
      return found === undefined ? 'unknown' : 'yes';
    },
  };
}

/** Slack says of its own bot that it is none. */
const SLACKBOT = 'USLACKBOT';

type NoUser = Exclude<Existence, 'yes' | 'unknown'>;

/** These errors are answers, too: no user here has this ID, or the app may not see them, or not ask. */
const NO_USER: Readonly<Record<string, NoUser>> = {
  user_not_found: 'no',
  user_not_visible: 'invisible',
  missing_scope: 'hidden',
};

async function lookUpUser(userId: string, slack: SlackApi): Lookup<SlackUser | NoUser> {
  const answer = await slack.findUser(userId);
  if (!answer.ok && answer.error === 'ratelimited') return new RateLimited(answer.retryAfterMs);
  if (!answer.ok) return Object.hasOwn(NO_USER, answer.error) ? NO_USER[answer.error] : undefined;
  return readUser(userId, answer.user);
}

/** Reads a user as Slack describes one; undefined for what can't be read. */
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
    /** Epoch seconds; 0 for one that is not switched off. */
    date_delete: z.number().default(0),
    users: z.array(z.string()).exactOptional(),
  }),
);

interface CachedGroup {
  readonly group: UserGroup;
  /** Undefined when Slack did not say. */
  readonly userIds: readonly string[] | undefined;
}

/**
 * A fresh answer may be this old: Slack lets us ask about twenty times a minute (tier 2), and a batch of renewals asks for
 * each of them.
 */
const FRESH_MS = 4000;

/**
 * Asks Slack for user groups and their members (scope `usergroups:read`), and caches the answer for a while. One
 * request answers for all groups, however many of them have a role.
 */
export function createGroups(clients: SlackClients, system: System): Groups {
  const findAll = cacheLookups((workspaceId) => lookUpGroups(clients.of(workspaceId)), system, {
    freshMs: FRESH_MS,
  });
  return {
    list: async (workspaceId) => {
      const all = await findAll(workspaceId);
      return all === HIDDEN ? undefined : all?.map(({ group }) => group);
    },
    listMembers: async (workspaceId, groupId, { isFresh = false } = {}) => {
      const all = await findAll(workspaceId, isFresh);
      if (all === undefined) return undefined;
      // Without the scope no later answer can be another one.
      if (all === HIDDEN) return [];
      const known = all.find(({ group }) => group.id === groupId);
      return known && !known.group.isDisabled ? known.userIds : [];
    },
  };
}

/** The app may not read groups, so that no group gives anyone a role. */
const HIDDEN = 'hidden';

async function lookUpGroups(slack: SlackApi): Lookup<readonly CachedGroup[] | typeof HIDDEN> {
  const answer = await slack.listGroups();
  if (!answer.ok && answer.error === 'ratelimited') return new RateLimited(answer.retryAfterMs);
  if (!answer.ok && answer.error === 'missing_scope') return HIDDEN;
  const groups = answer.ok ? slackGroups.safeParse(answer.groups).data : undefined;
  return groups?.map(({ id, handle, name, date_delete, users }) => ({
    group: { id, handle, name, isDisabled: date_delete !== 0 },
    userIds: users,
  }));
}

/** A user waits for the answer to a form, which Slack wants within 3 s. */
const WAIT_FOR_CHANNELS_MS = 2000;

const slackChannel = z.object({ is_archived: z.boolean().default(false) });
/** Without these fields, the readers aren't known. */
const sharing = z.object({ is_ext_shared: z.boolean(), is_pending_ext_shared: z.boolean().default(false) });

/** A channel that is shared hears nothing more after this time. */
const SHARING_KNOWN_FOR_MS = 60_000;

/**
 * Asks Slack about channels (`conversations.info`): each time for a role, which is rare and has to be current; once a
 * minute whether a channel is shared with other organizations, which is asked before each announcement.
 */
export function createChannels(clients: SlackClients, system: System): Channels {
  const findSharing = cacheLookups(
    async (key) => {
      const [workspaceId = '', channelId = ''] = key.split(' ');
      const answer = await clients.of(workspaceId).findChannel(channelId);
      if (!answer.ok && answer.error === 'ratelimited') return new RateLimited(answer.retryAfterMs);
      const found = answer.ok ? sharing.safeParse(answer.channel).data : undefined;
      return found && { isShared: found.is_ext_shared || found.is_pending_ext_shared };
    },
    system,
    { cachedMs: SHARING_KNOWN_FOR_MS },
  );
  return {
    hasMember: (workspaceId, channelId, userId) =>
      withTimeout(findMember(clients.of(workspaceId), channelId, userId), system),
    isShared: async (workspaceId, channelId) => (await findSharing(`${workspaceId} ${channelId}`))?.isShared,
    look: async (workspaceId, channelId) => {
      const answer = await withTimeout(
        clients.of(workspaceId).findChannel(channelId),
        system,
        WAIT_FOR_CHANNELS_MS,
      );
      if (!answer?.ok) return answer?.error === 'channel_not_found' ? 'unknown' : undefined;
      const channel = slackChannel.safeParse(answer.channel).data;
      return channel && (channel.is_archived ? 'archived' : 'there');
    },
  };
}

/** A channel of the whole company takes more pages than a user waits for: then nothing is known. */
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

/** Slack lets us ask about twenty times a minute, and takes up to 1,000; reading fewer delays no user. */
const MOST_ADMIN_PAGES = 10;
const USERS_PER_PAGE = 500;

const userPage = z.object({
  members: z.array(z.looseObject({ id: z.string() })),
  response_metadata: z.object({ next_cursor: z.string().catch('') }).catch({ next_cursor: '' }),
});

/** Asks Slack who its admins are (`users.list`, scope `users:read`), and caches the answer for a while. */
export function createAdmins(clients: SlackClients, system: System): AdminList {
  return { list: cacheLookups((workspaceId) => lookUpAdmins(clients.of(workspaceId)), system) };
}

async function lookUpAdmins(slack: SlackApi): Lookup<Admins> {
  const users: Admins['users'][number][] = [];
  let cursor: string | undefined;
  for (let place = 0; place < MOST_ADMIN_PAGES; place++) {
    const answer = await slack.listUsers({ limit: USERS_PER_PAGE, cursor });
    if (!answer.ok) return answer.error === 'ratelimited' ? new RateLimited(answer.retryAfterMs) : undefined;
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
