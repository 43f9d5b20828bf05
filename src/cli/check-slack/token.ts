import { z } from 'zod';
import { problemOf } from './problem-words.ts';
import type { Report } from './report.ts';
import type { Granted } from './scopes.ts';
import type { WebApi } from './web-api.ts';

const introduction = z.object({
  team: z.string().catch(''),
  team_id: z.string(),
  user: z.string().catch(''),
  user_id: z.string(),
  bot_id: z.string().optional(),
  is_enterprise_install: z.boolean().catch(false),
});

/** Asks Slack whose token it is (`auth.test`). Without an answer, nothing else can be checked. */
export async function checkToken(
  api: WebApi,
  report: Report,
): Promise<{ readonly granted: Granted; readonly botUserId: string } | undefined> {
  const answer = await api.call('auth.test', {});
  if (answer.kind !== 'accepted') {
    report.failed('token', problemOf('auth.test', answer));
    return undefined;
  }
  const owner = introduction.safeParse(answer.body).data;
  if (!owner?.bot_id) {
    const text =
      'This is not a bot token. Copy the Bot User OAuth Token from the app’s Install App page into SLACK_BOT_TOKEN; it starts with xoxb-.';
    report.failed('token', { code: 'not_a_bot_token', text });
    return undefined;
  }
  if (owner.is_enterprise_install) {
    const text =
      'The token is for a whole organization, which SLACK_BOT_TOKEN doesn’t support. Install the app in one workspace, or set SLACK_CLIENT_ID instead.';
    report.failed('token', { code: 'org_install', text });
    return undefined;
  }
  report.ok('token', `workspace ${owner.team} (${owner.team_id}), as @${owner.user}.`);
  return { granted: answer.scopes, botUserId: owner.user_id };
}
