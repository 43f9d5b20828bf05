import type { Checkup } from './checkup.ts';
import { type Failure, problemOf } from './problem-words.ts';
import type { Problem } from './report.ts';
import { mayUse } from './scopes.ts';
import { deleteMessage, postMessage } from './test-messages.ts';

/** Posts to a user by ID, as the app does, and deletes the message. */
export async function checkDirectMessage(checkup: Checkup): Promise<void> {
  const { report, userId, granted } = checkup;
  if (userId === undefined)
    return report.skipped('direct message', 'name a user with --user, or set OWNERS.');
  if (!mayUse(granted, 'chat:write'))
    return report.skipped('direct message', 'needs the scope chat:write first.');
  const message = await postMessage(checkup, userId);
  if ('kind' in message) return report.failed('direct message', describe(userId, message));
  report.ok('direct message', `Slack accepted one to ${userId}.`);
  await deleteMessage(checkup, 'direct message, deleted', message, `in ${userId}’s conversation`);
}

/** A user's ID is the channel here. */
function describe(userId: string, failure: Failure): Problem {
  const problem = problemOf('chat.postMessage', failure);
  if (problem.code !== 'channel_not_found') return problem;
  const text = `No user here has the ID ${userId}. Correct OWNERS, or name another user with --user.`;
  return { ...problem, text };
}
