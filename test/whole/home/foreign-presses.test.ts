import { expect, it } from 'vitest';
import { DAY_MS } from '../../../src/core/time.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { movableSystem } from '../../support/movable-system.ts';
import { changesSeen } from '../../support/raw-user.ts';
import { startTeam, type Team } from '../../support/team.ts';

const lastPress = (team: Team, what: string) => {
  const press = team.slack.deliveries().findLast(({ body }) => body.includes(what));
  if (!press) throw new Error(`nobody pressed ${what}`);
  return press;
};
const as = ({ id, name, teamId }: (typeof USERS)[keyof typeof USERS]) => ({
  user: { id, username: name, name, team_id: teamId },
});

/** A team with one server, whose paid time ends soon: Home has its power buttons. */
async function startUrgent() {
  const system = movableSystem();
  const team = await startTeam({ system });
  team.hosting.seedServers(team.account, 1, 'web');
  system.move(27 * DAY_MS);
  return team;
}

it('a press on another user’s Home counts as that of the user whom Slack names, and changes their own Home alone', async () => {
  await using team = await startUrgent();
  const otto = team.slack.as('otto').in('dm');
  await otto.opensHome();
  await otto.sees('Servers (1)');
  await otto.presses('Reboot');
  await otto.sees(/Rebooting|was rebooted/);
  const press = lastPress(team, 'home_reboot');
  for (const user of [USERS.vera, USERS.nora, USERS.sam])
    await team.slack.deliverAltered(press, (payload) => ({ ...payload, ...as(user) }));
  const denials = async () =>
    (await team.app.ports.audit.list({ workspaceId: TEAM.id, limit: 20 }))
      .filter(({ outcome }) => outcome === 'denied')
      .map(({ actorId, code }) => `${actorId} ${code}`);
  await expect
    .poll(denials, { timeout: 10_000 })
    .toEqual(
      expect.arrayContaining([
        `${USERS.vera.id} role_needed`,
        `${USERS.nora.id} role_needed`,
        `${USERS.sam.id} other_organization`,
      ]),
    );
  expect(changesSeen(team)).toHaveLength(1);
  await expect
    .poll(() => JSON.stringify(team.slack.as('nora').home() ?? ''), { timeout: 10_000 })
    .toContain('role');
  expect(JSON.stringify(team.slack.as('nora').home())).not.toContain('web-1');
  expect(team.slack.as('sam').home()).toBeUndefined();
  otto.doesNotSee('You need the operator role');
  expect(await team.app.ports.homes.find(TEAM.id, USERS.sam.id)).toBeUndefined();
});

it('the buttons on Home do nothing for a user who has lost the role, and a press clears the servers from it', async () => {
  await using team = await startUrgent();
  const otto = team.slack.as('otto').in('dm');
  await otto.opensHome();
  await otto.sees('Servers (1)');
  const grants = await team.app.ports.grants.list(TEAM.id);
  for (const { id, subjectId } of grants)
    if (subjectId === USERS.otto.id) await team.app.ports.grants.remove(TEAM.id, id);
  await otto.presses('Reboot');
  await otto.sees('You need the operator role');
  await otto.sees('You don’t have a role yet');
  expect(JSON.stringify(otto.home()?.blocks)).not.toContain('10.');
  expect(changesSeen(team)).toEqual([]);
});
