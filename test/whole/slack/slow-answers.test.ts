import { describe, expect, it } from 'vitest';
import { fillDelete } from '../../support/acts.ts';
import { startTeam, type Team } from '../../support/team.ts';

const brokenRulesOf = (team: Team) => team.slack.brokenRules().map(({ rule }) => rule);
/** What was posted instead of riding on an ack. */
const postsOf = (team: Team) =>
  team.slack.traffic().filter(({ what }) => what === 'response_url' || what.startsWith('chat.'));

describe.concurrent('a command whose answer takes long', () => {
  it('shows within two seconds that it is being worked on, and its answer afterwards', async () => {
    await using team = await startTeam({ servers: 1 });
    team.hosting.faults.add({ on: 'servers', kind: 'slow', delayMs: 1800 });
    await team.viewer.types('/vps list');
    await team.viewer.sees('Working on it. The result will appear here.', 2000);
    await team.viewer.sees('web-1', 3000);
    expect(postsOf(team)).toHaveLength(1);
    expect(brokenRulesOf(team)).toEqual([]);
  });

  it('is answered by its response_url, without words in between, if it takes about a second', async () => {
    await using team = await startTeam({ servers: 1 });
    team.hosting.faults.add({ on: 'servers', kind: 'slow', delayMs: 900 });
    await team.viewer.types('/vps list');
    await team.viewer.sees('web-1', 2000);
    team.viewer.doesNotSee('Working on it');
    expect(postsOf(team)).toHaveLength(1);
  });

  it('keeps its “Working on it”, which Slack can’t delete, beside an outcome in the channel', async () => {
    await using team = await startTeam({ servers: 1 });
    team.slack.faults.slowDown('chat.postMessage', 2500);
    await team.operator.types('/vps stop web-1');
    await team.operator.sees('Working on it. The result will appear here.', 2000);
    await team.operator.sees('@otto', 3000);
    expect(postsOf(team).map(({ what }) => what)).toEqual(['chat.postMessage']);
    expect(brokenRulesOf(team)).toEqual([]);
  });
});

describe.concurrent('a command that is answered at once', () => {
  it('has its answer in the ack and posts nothing, or opens its form and shows nothing else', async () => {
    await using team = await startTeam({ servers: 1 });
    for (const [command, answer] of [
      ['/vps help', 'List servers and manage one'],
      ['/vps list', 'web-1'],
      ['/vps show web-1', 'web-1'],
      ['/vps show web-9', 'No server matches'],
      ['/vps delete web-1', 'You need the manager role'],
    ] as const) {
      team.viewer.overlooksOldMessages();
      await team.viewer.types(command);
      await team.viewer.sees(answer);
    }
    await team.manager.types('/vps create');
    await team.manager.sees('Create a server');
    expect(team.manager.messages()).toEqual([]);
    expect(postsOf(team)).toEqual([]);
    expect(brokenRulesOf(team)).toEqual([]);
  });

  it('posts what a change came to, since nobody is told if Slack refuses the message of an ack', async () => {
    await using team = await startTeam({ servers: 1 });
    team.hosting.faults.add({ on: 'reboot', kind: 'error', code: 'wrong_state' });
    await team.operator.types('/vps reboot web-1');
    await team.operator.sees('web-1 is running, so it can’t be rebooted');
    expect(postsOf(team)).not.toEqual([]);
  });

  it('posts that a command was handled before, since nobody knows whether its user has seen its outcome', async () => {
    await using team = await startTeam({ servers: 1, mode: 'http' });
    await team.operator.types('/vps stop web-1');
    await team.operator.sees('stopped');
    const body = team.slack.lastDelivery('command').body;
    // Nobody sees what the ack of this delivery says.
    await team.slack.deliverAt(1, body);
    await team.operator.sees('This request was already handled.');
  });
});

it.concurrent('a form that is submitted while the hosting API is slow is acknowledged within Slack’s three seconds, and shows the outcome of a delete or the price of an order afterwards', async () => {
  await using team = await startTeam({ servers: 1, settings: { HOSTING_TIMEOUT_MS: '10000' } });
  const { manager } = team;
  await manager.types('/vps create');
  await manager.fills({ Plan: 'small', Location: 'ams', Image: 'debian-13', Label: 'web-2' });
  for (const on of ['catalog', 'servers'] as const)
    team.hosting.faults.add({ on, kind: 'slow', delayMs: 3500 });
  await manager.presses('Review');
  await manager.sees('Create and pay');
  await manager.closes({ all: true });
  await fillDelete(manager);
  team.hosting.faults.add({ on: 'servers', kind: 'slow', delayMs: 3500 });
  await manager.presses('Delete');
  await manager.sees('was deleted');
  expect(brokenRulesOf(team)).toEqual([]);
});
