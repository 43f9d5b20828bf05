import { z } from 'zod';
import type { People, Person } from '../app/access-ports.ts';
import type { System } from '../system.ts';
import { keepAnswers } from './kept-answers.ts';
import type { SlackApi } from './slack-api.ts';

const slackUser = z.object({
  team_id: z.string().optional(),
  deleted: z.boolean().default(false),
  is_admin: z.boolean().default(false),
  is_owner: z.boolean().default(false),
  is_restricted: z.boolean().default(false),
  is_ultra_restricted: z.boolean().default(false),
  is_stranger: z.boolean().default(false),
  is_bot: z.boolean().default(false),
  /** In Enterprise Grid: all workspaces of the organisation that they are in. */
  enterprise_user: z.object({ teams: z.array(z.string()).default([]) }).nullish(),
});

/** Asks Slack who somebody is (`users.info`, scope `users:read`), and keeps the answer for a while. */
export function createPeople(slack: SlackApi, system: System): People {
  const find = keepAnswers((key) => lookUp(key.split(' ')[1] ?? '', slack), system);
  const findKept = (workspaceId: string, userId: string) => find(`${workspaceId} ${userId}`);
  return {
    find: async (workspaceId, userId) => {
      const found = await findKept(workspaceId, userId);
      return found === NOBODY ? undefined : found;
    },
    exists: async (workspaceId, userId) => {
      const found = await findKept(workspaceId, userId);
      return found === undefined ? 'unknown' : found === NOBODY ? 'no' : 'yes';
    },
  };
}

/** Slack says of its own voice that it is no bot. */
const SLACKBOT = 'USLACKBOT';

/** Slack is sure that nobody here has this id. */
const NOBODY = 'nobody';
const NOBODY_CODES: readonly string[] = ['user_not_found', 'user_not_visible'];

async function lookUp(userId: string, slack: SlackApi): Promise<Person | typeof NOBODY | undefined> {
  const answer = await slack.findUser(userId);
  if (!answer.ok) return NOBODY_CODES.includes(answer.error) ? NOBODY : undefined;
  const user = slackUser.safeParse(answer.user).data;
  if (!user) return undefined;
  const home = user.team_id === undefined ? [] : [user.team_id];
  return {
    isAdmin: user.is_admin || user.is_owner,
    isGuest: user.is_restricted || user.is_ultra_restricted,
    isBot: user.is_bot || userId === SLACKBOT,
    isDeactivated: user.deleted,
    isStranger: user.is_stranger,
    teamIds: [...new Set([...home, ...(user.enterprise_user?.teams ?? [])])],
  };
}
