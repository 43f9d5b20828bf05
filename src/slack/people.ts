import { z } from 'zod';
import type { People, Person } from '../app/ports.ts';
import type { System } from '../system.ts';
import type { SlackApi } from './slack-api.ts';

/** Long enough to spare Slack, short enough for a role taken away to count soon. */
const GOOD_FOR_MS = 5 * 60_000;
/** Without the scope, or with Slack down, it is asked again after this time. */
const FAILURE_GOOD_FOR_MS = 30_000;
/** A submission has to be answered within 3 s: whoever can't be looked up by then counts as unknown. */
const WAIT_MS = 2000;
const MOST_KEPT = 10_000;

const slackUser = z.object({
  team_id: z.string().optional(),
  deleted: z.boolean().default(false),
  is_admin: z.boolean().default(false),
  is_owner: z.boolean().default(false),
  is_restricted: z.boolean().default(false),
  is_ultra_restricted: z.boolean().default(false),
  is_stranger: z.boolean().default(false),
  is_bot: z.boolean().default(false),
});

/** Asks Slack who somebody is (`users.info`, scope `users:read`), and keeps the answer for a while. */
export function createPeople(slack: SlackApi, system: System): People {
  const kept = new Map<string, { person: Promise<Person | undefined>; until: number }>();
  return {
    find: (workspaceId, userId) => {
      const key = `${workspaceId} ${userId}`;
      const known = kept.get(key);
      if (known && known.until > system.elapsed()) return known.person;
      if (kept.size >= MOST_KEPT) kept.clear();
      const entry = { person: lookUp(userId, slack, system), until: system.elapsed() + GOOD_FOR_MS };
      kept.set(key, entry);
      void entry.person.then((person) => {
        if (!person) entry.until = system.elapsed() + FAILURE_GOOD_FOR_MS;
      });
      return entry.person;
    },
  };
}

async function lookUp(userId: string, slack: SlackApi, system: System): Promise<Person | undefined> {
  const stop = new AbortController();
  const late = system.sleep(WAIT_MS, stop.signal).catch(() => undefined);
  const answer = await Promise.race([slack.findUser(userId), late.then(() => undefined)]);
  stop.abort();
  const parsed = answer?.ok ? slackUser.safeParse(answer.user) : undefined;
  if (!parsed?.success) return undefined;
  const user = parsed.data;
  return {
    isAdmin: user.is_admin || user.is_owner,
    isGuest: user.is_restricted || user.is_ultra_restricted || user.is_stranger,
    isBot: user.is_bot,
    isDeactivated: user.deleted,
    ...(user.team_id === undefined ? {} : { teamId: user.team_id }),
  };
}
