import { describe, expect, it } from 'vitest';
import { startTeam } from '../../support/team.ts';

const brokenRulesOf = (team: Awaited<ReturnType<typeof startTeam>>) =>
  team.slack.brokenRules().map(({ rule }) => rule);

describe('a command whose answer takes long', () => {
  it('shows within a second that it is being worked on, and its answer afterwards', async () => {
    await using team = await startTeam();
    team.hosting.seedServers(team.account, 1, 'web');
    team.slack.faults.slowDown('response_url', 1000);
    const viewer = team.slack.as('vera').in('#ops');
    await viewer.types('/vps list');
    await viewer.sees('Working on it. The result will appear here.', 1000);
    await viewer.sees('web-1');
    expect(brokenRulesOf(team)).toEqual([]);
  });

  it('leaves all five uses of its response_url to the answer', async () => {
    await using team = await startTeam();
    team.hosting.seedServers(team.account, 1, 'web');
    team.slack.faults.slowDown('response_url', 1000);
    await team.slack.as('vera').in('#ops').types('/vps list');
    await expect
      .poll(() => team.slack.traffic().filter(({ what }) => what === 'response_url').length)
      .toBe(1);
  });
});

describe('a slow command whose outcome is posted in the channel', () => {
  it('has its “Working on it” removed, which uses its response_url once', async () => {
    await using team = await startTeam();
    team.hosting.seedServers(team.account, 1, 'web');
    team.slack.faults.slowDown('chat.postMessage', 1000);
    const operator = team.slack.as('otto').in('#ops');
    await operator.types('/vps stop web-1');
    await operator.sees('Working on it. The result will appear here.', 1000);
    await operator.sees('@otto');
    const uses = () => team.slack.traffic().filter(({ what }) => what === 'response_url');
    await expect.poll(() => uses().length).toBe(1);
    expect(JSON.stringify(uses())).toContain('delete_original');
    expect(brokenRulesOf(team)).toEqual([]);
  });
});

describe('a command that is answered at once', () => {
  it('shows its answer and nothing else', async () => {
    await using team = await startTeam();
    const viewer = team.slack.as('vera').in('#ops');
    await viewer.types('/vps list');
    await viewer.sees('no servers in the hosting account yet');
    viewer.doesNotSee('Working on it');
  });

  it('opens its form and shows nothing else', async () => {
    await using team = await startTeam();
    const manager = team.slack.as('mara').in('#ops');
    await manager.types('/vps create');
    await manager.sees('Create a server');
    expect(manager.messages()).toEqual([]);
  });
});
