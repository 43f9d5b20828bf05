import { z } from 'zod';
import type { Existence, SlackUser, Users } from '../../app/authorize/ports.ts';
import type { System } from '../../system.ts';
import type { SlackApi } from '../transport/slack-api.ts';
import type { SlackClients } from '../transport/slack-clients.ts';
import { cacheLookups, type Lookup, RateLimited } from './cached-lookups.ts';

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
    return lookUp(userId, clients.of(workspaceId));
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

async function lookUp(userId: string, slack: SlackApi): Lookup<SlackUser | NoUser> {
  const answer = await slack.findUser(userId);
  if (!answer.ok && answer.error === 'ratelimited') return new RateLimited(answer.retryAfterMs);
  if (!answer.ok) return Object.hasOwn(NO_USER, answer.error) ? NO_USER[answer.error] : undefined;
  return readUser(userId, answer.user);
}

/** Reads a user as Slack describes one; undefined for what can't be read. */
export function readUser(userId: string, given: unknown): SlackUser | undefined {
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
