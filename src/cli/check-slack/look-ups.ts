import { z } from 'zod';
import type { Checkup } from './checkup.ts';
import { problemOf, problemOfCode } from './problem-words.ts';
import { mayUse } from './scopes.ts';

const userFields = z.object({
  user: z.object({
    name: z.string().catch(''),
    deleted: z.boolean().catch(false),
    is_bot: z.boolean().catch(false),
  }),
});
const groupFields = z.object({ usergroups: z.array(z.unknown()) });

/** Looks up the owners and the user of the direct message; without either, the app itself. */
export async function checkUsers(checkup: Checkup): Promise<void> {
  const { report, granted, owners, userId, botUserId } = checkup;
  const mayAsk = mayUse(granted, 'users:read');
  if (owners.length > 0) report.ok('owners', `${owners.length} in OWNERS.`);
  else if (mayAsk) report.ok('owners', 'the workspace’s admins, since OWNERS is empty.');
  else
    report.failed('owners', { code: 'no_owner', text: 'There are none. Set OWNERS, or grant users:read.' });
  if (!mayAsk) return report.skipped('users', 'needs the scope users:read.');
  const people = [...new Set([...(userId === undefined ? [] : [userId]), ...owners])];
  if (people.length === 0) return checkUser(checkup, botUserId);
  for (const id of people) await checkUser(checkup, id);
}

async function checkUser({ api, report, botUserId }: Checkup, id: string): Promise<void> {
  const check = `user ${id}`;
  const answer = await api.call('users.info', { user: id });
  if (answer.kind !== 'accepted') return report.failed(check, problemOf('users.info', answer));
  const user = userFields.safeParse(answer.body).data?.user;
  const refuse = (code: string) => report.failed(check, problemOfCode('users.info', code));
  if (!user) return refuse('user_not_found');
  if (user.deleted) return refuse('user_disabled');
  if (user.is_bot && id !== botUserId) return refuse('cannot_dm_bot');
  report.ok(check, `found, @${user.name}.`);
}

/** Asks as the app does: with members, disabled groups included. */
export async function checkGroups({ api, report, granted }: Checkup): Promise<void> {
  if (!mayUse(granted, 'usergroups:read'))
    return report.skipped('user groups', 'needs the scope usergroups:read.');
  const answer = await api.call('usergroups.list', { include_disabled: true, include_users: true });
  if (answer.kind !== 'accepted') return report.failed('user groups', problemOf('usergroups.list', answer));
  const count = groupFields.safeParse(answer.body).data?.usergroups.length ?? 0;
  report.ok('user groups', `${count} found.`);
}
