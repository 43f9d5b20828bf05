import { z } from 'zod';
import type { AdminList, Admins } from '../../app/authorize/ports.ts';
import type { System } from '../../system.ts';
import type { SlackApi } from '../transport/slack-api.ts';
import type { SlackClients } from '../transport/slack-clients.ts';
import { cacheLookups, type Lookup, RateLimited } from './cached-lookups.ts';
import { readUser } from './users.ts';

/** Slack lets us ask about twenty times a minute, and takes up to 1,000; reading fewer delays no user. */
const MOST_PAGES = 10;
const USERS_PER_PAGE = 500;

const userPage = z.object({
  members: z.array(z.looseObject({ id: z.string() })),
  response_metadata: z.object({ next_cursor: z.string().catch('') }).catch({ next_cursor: '' }),
});

/** Asks Slack who its admins are (`users.list`, scope `users:read`), and caches the answer for a while. */
export function createAdmins(clients: SlackClients, system: System): AdminList {
  return { list: cacheLookups((workspaceId) => lookUp(clients.of(workspaceId)), system) };
}

async function lookUp(slack: SlackApi): Lookup<Admins> {
  const users: Admins['users'][number][] = [];
  let cursor: string | undefined;
  for (let place = 0; place < MOST_PAGES; place++) {
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
