import { z } from 'zod';
import type { Groups, UserGroup } from '../../app/authorize/ports.ts';
import type { System } from '../../system.ts';
import type { SlackApi } from '../transport/slack-api.ts';
import type { SlackClients } from '../transport/slack-clients.ts';
import { cacheLookups, type Lookup, RateLimited } from './cached-lookups.ts';

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
  const findAll = cacheLookups((workspaceId) => lookUp(clients.of(workspaceId)), system, {
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

async function lookUp(slack: SlackApi): Lookup<readonly CachedGroup[] | typeof HIDDEN> {
  const answer = await slack.listGroups();
  if (!answer.ok && answer.error === 'ratelimited') return new RateLimited(answer.retryAfterMs);
  if (!answer.ok && answer.error === 'missing_scope') return HIDDEN;
  const groups = answer.ok ? slackGroups.safeParse(answer.groups).data : undefined;
  return groups?.map(({ id, handle, name, date_delete, users }) => ({
    group: { id, handle, name, isDisabled: date_delete !== 0 },
    userIds: users,
  }));
}
