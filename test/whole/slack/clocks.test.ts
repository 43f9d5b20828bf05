import { describe, expect, it } from 'vitest';
import { APP, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { movableSystem } from '../../support/movable-system.ts';
import { changesSeen } from '../../support/raw-user.ts';
import { startTeam } from '../../support/team.ts';

const MINUTE_MS = 60_000;

describe.each(['http', 'socket'] as const)('an app whose clock is off, in Slack’s mode %s', (mode) => {
  async function startOff(byMs: number) {
    const system = movableSystem();
    system.stepWall(byMs);
    const team = await startTeam({ mode, system });
    team.hosting.seedServers(team.account, 2, 'web');
    return team;
  }
  const readiness = async ({ appUrl }: { readonly appUrl: string }) => {
    const answer = await fetch(`${appUrl}/readyz`);
    return `${answer.status} ${await answer.text()}`;
  };

  it.each([
    [4, '4 min ahead of Slack’s'],
    [-4, '4 min behind Slack’s'],
  ])('by %i minutes carries out messages that were just written, and reports its clock in /readyz', async (minutes, words) => {
    await using team = await startOff(minutes * MINUTE_MS);
    const otto = team.slack.as('otto');
    await otto.in('dm').types('stop web-1');
    await otto.in('dm').sees('web-1 was stopped');
    await otto.in('#ops').types('@vps stop web-2');
    await otto.in('#ops').inThreadOf('stop web-2').sees('stopped web-2');
    expect(await readiness(team)).toContain(`200 ok\nthe app’s clock is ${words}`);
  });

  it.each([4, -4])('by %i minutes still refuses a message that Slack delivers late', async (minutes) => {
    await using team = await startOff(minutes * MINUTE_MS);
    const otto = team.slack.as('otto').in('#ops');
    await team.slack.sendEvent({
      ...{ type: 'app_mention', user: USERS.otto.id, channel: 'C0OPS00001', user_team: 'T0SANDBOX' },
      ...{ text: `<@${APP.botUserId}> stop web-1`, ts: `${Math.floor(Date.now() / 1000) - 400}.000100` },
    });
    await otto.sees('delivered your message 7 min late, so nothing was done');
    expect(changesSeen(team)).toEqual([]);
  });

  it('by half a minute doesn’t report its clock in /readyz', async () => {
    await using team = await startOff(MINUTE_MS / 2);
    const otto = team.slack.as('otto').in('dm');
    await otto.types('list');
    await otto.sees('2 servers');
    expect(await readiness(team)).toBe('200 ok\n');
  });
});
