import { describe, expect, test } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { SECOND_TEAM, TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { askForLink, orderOf } from '../../support/acts.ts';
import { type Installs, startInstalls } from '../../support/installs.ts';
import { startTeam, type TeamOptions } from '../../support/team.ts';

const LIMIT = 300;
const BLOCKED = 'on this hosting account is still unconfirmed';

/** Two installed workspaces, which have the same key, or two keys of one account. */
async function startTwo(options: TeamOptions = {}, keys: 'one key' | 'two keys' = 'one key') {
  const team = await startInstalls({ ...options, settings: { HOSTING_TIMEOUT_MS: '3000' } });
  await team.install(team.first);
  await team.install(team.second);
  const { hosting, account, apiKey, app } = team;
  const other = keys === 'one key' ? apiKey : hosting.createKey(account);
  await app.ports.apiKeys.put(TEAM.id, new Secret(apiKey), 'U0OWNER001', 0);
  await app.ports.apiKeys.put(SECOND_TEAM.id, new Secret(other), 'U0OWNER001', 0);
  const apis = [
    app.ports.hostingOf(new Secret(apiKey), TEAM.id),
    app.ports.hostingOf(new Secret(other), SECOND_TEAM.id),
  ] as const;
  return Object.assign(team, { apis });
}

const managerOf = (slack: Installs['first']) => slack.as('olga');

async function order(slack: Installs['first'], label: string, outcome: string) {
  const manager = managerOf(slack);
  await manager.types(orderOf(label));
  await manager.presses('Create and pay');
  await manager.sees(outcome);
  const shown = manager.screen();
  await manager.closes();
  manager.overlooksOldMessages();
  return shown;
}

const countCreates = ({ hosting }: Installs) => hosting.requests({ operation: 'create' }).length;

describe.concurrent('two workspaces', () => {
  test('with one API key can’t order a label whose order is unconfirmed in the other, also after a restart, and learn nothing more about it', async () => {
    await using team = await startTwo();
    team.hosting.faults.add({ on: 'create', kind: 'lost_before' });
    await order(team.first, 'web-1', 'We’re not sure yet whether');
    for (const restart of [async () => undefined, team.restart]) {
      await restart();
      const shown = await order(team.second, 'WEB-1', BLOCKED);
      expect(shown).not.toContain(team.first.as('olga').id);
      expect(shown).not.toContain(TEAM.name);
    }
    expect(countCreates(team)).toBe(1);
    await order(team.second, 'web-2', 'web-2 is being created');
    expect(countCreates(team)).toBe(2);
  });

  test('with one API key pay once when both renew a server for the same month', async () => {
    await using team = await startTwo();
    team.hosting.seedServers(team.account, 1, 'alpha');
    const people = [managerOf(team.first), managerOf(team.second)] as const;
    for (const person of people) {
      await person.types('/vps renew alpha-1');
      await person.sees('Renew and pay');
    }
    await people[0].presses('Renew and pay');
    await people[0].sees('alpha-1 was renewed');
    await people[1].presses('Renew and pay');
    await people[1].sees(
      'alpha-1 wasn’t renewed, and nothing was charged. alpha-1 was renewed while you were',
    );
    expect(team.hosting.charges(team.account)).toHaveLength(1);
  });

  test('with two API keys of one account never take a server that one of them ordered for the other’s lost order', async ({
    expect,
  }) => {
    await using team = await startTwo({ config: { DOUBT_MINUTES: 0.03 } }, 'two keys');
    team.hosting.faults.add({ on: 'create', kind: 'lost_before' });
    await order(team.second, 'web-1', 'We’re not sure yet whether');
    await order(team.first, 'web-1', 'web-1 is being created');
    const findLost = async () => (await team.app.ports.ledger.listOpen(SECOND_TEAM.id))[0];
    await expect.poll(async () => (await findLost())?.needsDecision).toBe(true);
    expect(await findLost()).toMatchObject({ state: 'unconfirmed' });
    expect(await findLost()).toMatchObject({ serverId: undefined });
    managerOf(team.second).doesNotSee('web-1 was created (');
    expect(team.hosting.charges(team.account)).toHaveLength(1);
  });
});

describe.concurrent('two workspaces with one API key', () => {
  test('stay within one minute’s limit together', async ({ expect }) => {
    await using team = await startTwo();
    team.hosting.seedServers(team.account, 1, 'alpha');
    const [id = 0] = team.hosting.listServers(team.account).map((server) => server.id);
    const calls = team.apis.flatMap((api) =>
      Array.from({ length: 200 }, () => api.changePower('reboot', id).catch(() => undefined)),
    );
    await expect.poll(() => team.hosting.requests().length).toBe(LIMIT);
    // Every one of them was answered, and what waits has seen a free moment since.
    await expect
      .poll(() => team.apis.reduce((sum, api) => sum + api.budget().waiting, 0))
      .toBeGreaterThanOrEqual(400 - LIMIT);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(team.hosting.requests()).toHaveLength(LIMIT);
    void Promise.allSettled(calls);
  });

  test('don’t pay for a month that one of them decided was renewed, and the other is told so at once', async () => {
    await using team = await startTwo({ config: { DOUBT_MINUTES: 0.03 } });
    team.hosting.seedServers(team.account, 1, 'alpha');
    const [first, second] = [managerOf(team.first), managerOf(team.second)];
    for (const person of [first, second]) {
      await person.types('/vps renew alpha-1');
      await person.sees('Renew and pay');
    }
    team.hosting.faults.add({ on: 'renew', kind: 'lost_before' });
    await first.presses('Renew and pay');
    await first.sees('We can’t tell whether alpha-1 was renewed');
    await first.closes();
    await first.presses('Resolve…');
    await first.fills({ 'Was it renewed?': 'It was renewed' });
    await first.presses('Save');
    await first.sees('marked alpha-1 as renewed');
    await second.presses('Renew and pay');
    await second.sees('hasn’t been confirmed by the hosting API');
    expect(team.hosting.charges(team.account)).toEqual([]);
  });

  test('no longer block each other’s labels once one of them connects another account', async () => {
    await using team = await startTwo();
    team.hosting.faults.add({ on: 'create', kind: 'lost_before' });
    await order(team.first, 'web-1', 'We’re not sure yet whether');
    const account = team.hosting.accounts.create({ name: 'Second', balanceMinor: 100_000 });
    const key = team.hosting.createKey(account, { beforeTopUp: true });
    await team.app.ports.apiKeys.put(SECOND_TEAM.id, new Secret(key), 'U0OWNER001', 1);
    await order(team.second, 'web-1', 'web-1 is being created');
    expect(team.hosting.charges(account)).toHaveLength(1);
  });

  test('keep only the label of an unconfirmed order blocked when the workspace that placed it uninstalls the app', async () => {
    await using team = await startTwo();
    team.hosting.faults.add({ on: 'create', kind: 'lost_before' });
    await order(team.first, 'web-1', 'We’re not sure yet whether');
    const { installationStore } = team.app.ports;
    const installed = await installationStore.find(TEAM.id);
    if (!installed) throw new Error('it was not installed');
    await installationStore.erase(installed);
    await order(team.second, 'web-1', BLOCKED);
    await order(team.second, 'web-2', 'web-2 is being created');
  });
});

test.concurrent('a second key of the same account, connected again, never lets more requests through than the limit', async ({
  expect,
}) => {
  await using team = await startTeam();
  const { hosting, account, app, apiKey } = team;
  const [id = 0] = hosting.seedServers(account, 1, 'web');
  const first = app.ports.hostingOf(new Secret(apiKey), TEAM.id);
  await Promise.all(Array.from({ length: LIMIT }, () => first.changePower('reboot', id)));
  const link = await askForLink(team);
  const second = hosting.createKey(account);
  const posted = fetch(link, {
    method: 'POST',
    body: new URLSearchParams({ api_key: second }),
    headers: { 'sec-fetch-site': 'same-origin' },
  });
  // Without a minute in common, the second key would be tried at once.
  const other = app.ports.hostingOf(new Secret(second), TEAM.id);
  await expect.poll(() => other.budget().waiting).toBe(1);
  expect(hosting.requests()).toHaveLength(LIMIT);
  const isAnswered = await Promise.race([posted.then(() => true), other.budget().waiting === 1 && false]);
  expect(isAnswered).toBe(false);
  posted.catch(() => undefined);
});
