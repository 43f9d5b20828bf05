import { describe, expect, it } from 'vitest';
import { largeCatalog } from '../../../src/sandbox/hosting/catalog.ts';
import { deleteServer } from '../../support/acts.ts';
import { until } from '../../support/eventually.ts';
import { changesSeen, rawUser } from '../../support/raw-user.ts';
import { startTeam } from '../../support/team.ts';

/** The longest acceptable wait. */
const AT_ONCE_MS = 1500;

async function atOnce(work: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now();
  await work();
  expect(performance.now() - startedAt).toBeLessThan(AT_ONCE_MS);
}

describe.concurrent('three thousand servers', () => {
  it('are listed page by page, back and forth, filtered, picked by typing, and managed, also without the table', async () => {
    await using team = await startTeam({ servers: 3000 });
    const { viewer } = team;
    await atOnce(async () => {
      await viewer.types('/vps list');
      await viewer.sees('Showing 1–100');
    });
    for (let part = 2; part <= 30; part++) {
      await viewer.presses('Next');
      await viewer.sees(`Showing ${part * 100 - 99}–`.replace(/(\d)(\d{3})–/, '$1,$2–'));
    }
    await viewer.sees('web-3000');
    await viewer.presses('Previous');
    await viewer.sees('Showing 2,801–2,900');
    const { operator } = team;
    await operator.types('/vps list web-29');
    await operator.sees('111 servers matching web-29');
    await operator.types('/vps list');
    await operator.sees('3,000 servers');
    await atOnce(async () => {
      expect(await operator.suggestionsFor('Manage a server', '')).toHaveLength(100);
      expect(await operator.suggestionsFor('Manage a server', 'web-2999')).toEqual(['web-2999']);
      expect(await operator.suggestionsFor('Manage a server', 'nothing')).toEqual([]);
    });
    await operator.chooses('Manage a server', 'web-2999');
    await operator.sees('Paid until');
    await operator.presses('Reboot');
    await operator.sees('rebooted web-2999');
    team.slack.faults.refuseBlock('data_table');
    viewer.overlooksOldMessages();
    await viewer.types('/vps list');
    await viewer.sees('🟢 *web-1*');
    await viewer.sees('more: narrow the list with /vps list <filter>.');
    await viewer.types('/vps catalog');
    await viewer.sees('6 plans');
    await viewer.sees('5.90');
    expect(team.slack.brokenRules()).toEqual([]);
  });

  it('that all match a name lead to a choice of servers, never to an action', async () => {
    await using team = await startTeam({ servers: 3000 });
    for (const verb of ['show', 'start', 'stop', 'reboot', 'renew', 'delete']) {
      const fresh = team.manager.overlooksOldMessages();
      await fresh.types(`/vps ${verb} web`);
      await fresh.sees('3,000 servers match');
      if (fresh.modal()) await fresh.closes();
    }
    expect(changesSeen(team)).toEqual([]);
    await deleteServer(team.manager, 'web-1500');
    expect(team.hosting.listServers(team.account)).toHaveLength(2999);
    expect(team.slack.brokenRules()).toEqual([]);
  });
});

describe.concurrent('a catalog past every limit of a menu', () => {
  it('can be searched by typing', async () => {
    await using team = await startTeam({ hosting: { catalog: largeCatalog() } });
    const { manager } = team;
    await manager.types('/vps create');
    await atOnce(async () => {
      expect(await manager.suggestionsFor('Plan', '')).toHaveLength(100);
      expect(await manager.suggestionsFor('Plan', 'plan-14')).toHaveLength(10);
      expect(await manager.suggestionsFor('Image', 'image-299')).toEqual(['image-299']);
    });
    await manager.fills({
      Plan: 'plan-001',
      Location: 'region-12',
      Image: 'image-300',
      Label: 'typed-1',
    });
    await manager.presses('Review');
    await manager.sees('3.07 per month');
    await manager.presses('Create and pay');
    await manager.sees('typed-1 is being created');
    expect(team.slack.brokenRules()).toEqual([]);
  });
});

it.concurrent('a crowd of users of 400 who all type /vps list gets 400 answers for a handful of API requests', async () => {
  await using team = await startTeam({ servers: 50 });
  team.slack.app.ackTimeoutMs = 20_000;
  const by = rawUser(team, 'vera');
  const acks = await Promise.all(Array.from({ length: 400 }, () => by.command('list')));
  expect(acks.filter(({ status }) => status !== 200)).toEqual([]);
  await until(() => by.ephemeralMessages().length >= 400, 50);
  expect(by.ephemeralMessages().every((shown) => shown.includes('50 servers'))).toBe(true);
  expect(team.hosting.requests().length).toBeLessThanOrEqual(12);
  expect(team.slack.brokenRules()).toEqual([]);
});

it.concurrent('a menu whose choices come too late is empty within Slack’s three seconds, rather than broken', async () => {
  await using team = await startTeam({ servers: 200, settings: { HOSTING_TIMEOUT_MS: '8000' } });
  await team.viewer.types('/vps list');
  await team.viewer.sees('200 servers');
  // What was read a moment ago would still do, had nothing changed since.
  await team.operator.types('/vps reboot web-1');
  await team.viewer.sees('rebooted web-1');
  team.hosting.faults.add({ on: 'servers', kind: 'slow', delayMs: 3200 });
  expect(await team.viewer.suggestionsFor('Manage a server', 'web')).toEqual([]);
  expect(team.slack.brokenRules()).toEqual([]);
});

it.concurrent.each([
  '#ops',
  '#random',
])('twenty servers in one command are all reported, although Slack accepts only five replies to a command: %s', async (place) => {
  await using team = await startTeam({ servers: 20 });
  const operator = team.slack.as('otto').in(place);
  const names = Array.from({ length: 17 }, (_, index) => `web-${index + 1}`);
  await operator.types(`/vps stop ${names.join(' ')} nowhere web-1 nothing-like-it`);
  for (const name of names) await operator.sees(new RegExp(`\\b${name}\\b`));
  await operator.sees('nowhere');
  await operator.sees('nothing-like-it');
  // Two words are no servers, so that the user has to confirm the others.
  await operator.presses(/^Stop 17/);
  const colleague = team.slack.as('vera').in(place);
  for (const name of names) await colleague.sees(new RegExp(`stopped.*\\b${name}\\b`, 's'));
  expect(changesSeen(team)).toHaveLength(17);
  expect(team.slack.brokenRules()).toEqual([]);
});
