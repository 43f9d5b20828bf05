import { describe, expect, it } from 'vitest';
import { movableSystem } from '../../support/movable-system.ts';
import { startTeam } from '../../support/team.ts';

describe('while Slack limits the app', () => {
  it('a request for access reaches the owners once Slack accepts messages again', async () => {
    await using team = await startTeam();
    team.slack.faults.rateLimit('chat.postMessage', { times: 1, retryAfterSeconds: 1 });
    const newcomer = team.slack.as('nora').in('#ops');
    await newcomer.types('/vps access ask viewer');
    await newcomer.fills({ 'Why do you need it?': 'the release' });
    await newcomer.presses('Send request');
    await team.slack.as('olga').in('dm').sees('the release');
    expect(team.slack.brokenRules()).toEqual([]);
  });

  it('a channel still gets every outcome of actions in the same second', async () => {
    await using team = await startTeam();
    team.hosting.seedServers(team.account, 3, 'web');
    const viewer = team.slack.as('vera').in('#ops');
    const names = ['web-1', 'web-2', 'web-3'];
    await Promise.all(names.map((name) => team.slack.as('otto').in('#ops').types(`/vps reboot ${name}`)));
    for (const name of names) await viewer.sees(`rebooted ${name}: 🟢 running`);
    expect(team.slack.brokenRules()).toEqual([]);
  });

  it('an admin of the workspace stays an owner', async () => {
    const system = movableSystem();
    await using team = await startTeam({ system, settings: { OWNERS: '' } });
    const owner = team.slack.as('olga').in('#ops');
    await owner.types('/vps settings notifications');
    await owner.closes();
    system.move(6 * 60_000);
    team.slack.faults.rateLimit('users.info', { times: 5, retryAfterSeconds: 60 });
    await owner.types('/vps settings notifications');
    await owner.sees('Digest channel');
  });
});
