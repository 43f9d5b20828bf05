import { describe, expect, test } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { SECOND_TEAM, TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { startInstalls } from '../../support/installs.ts';
import { postgresUrl } from '../../support/postgres.ts';

const ORDER = '/vps create plan=small location=ams image=debian-13 label=web-1';

/** Two workspaces that installed the app, each with a hosting account of its own. */
async function startTwo() {
  const team = await startInstalls({ engine: 'postgres' });
  for (const slack of [team.first, team.second])
    expect((await team.install(slack)).text).toContain('installed');
  const other = team.hosting.accounts.create({ name: 'Second', balanceMinor: 100_000 });
  const otherKey = team.hosting.createKey(other, { beforeTopUp: true });
  await team.app.ports.apiKeys.put(TEAM.id, new Secret(team.apiKey), 'U0OWNER001', 0);
  await team.app.ports.apiKeys.put(SECOND_TEAM.id, new Secret(otherKey), 'U0OWNER001', 0);
  const owners = [team.first, team.second].map((slack) => slack.as('olga').in('#ops'));
  return Object.assign(team, { other, owners });
}

describe.skipIf(!postgresUrl)('two workspaces on one PostgreSQL database', () => {
  test('each pay once when both order the same label at once, and each owner sees only their own password', async () => {
    await using team = await startTwo();
    const { hosting, account, other, owners } = team;
    await Promise.all(owners.map((owner) => owner.types(ORDER)));
    await Promise.all(owners.map((owner) => owner.presses('Create and pay')));
    const [first = '', second = ''] = await Promise.all(
      [account, other].map(async (one, at) => {
        await owners[at]?.sees("I've saved it");
        return hosting.passwordOf(hosting.listServers(one)[0]?.id ?? 0);
      }),
    );
    expect([account, other].map((one) => hosting.charges(one).length)).toEqual([1, 1]);
    const [one, two] = owners.map((owner) => owner.screen());
    expect([one?.includes(first), one?.includes(second)]).toEqual([true, false]);
    expect([two?.includes(first), two?.includes(second)]).toEqual([false, true]);
  });

  test('are independent when one uninstalls: it is erased, also after a restart, and the other keeps working', async () => {
    await using team = await startTwo();
    const { hosting, other, first, second, owners } = team;
    await owners[0]?.types(ORDER);
    await owners[0]?.presses('Create and pay');
    await owners[0]?.sees("I've saved it");
    await first.uninstallApp();
    const left = async () => {
      const { installationStore, apiKeys, passwords } = team.app.ports;
      const held = [...(await passwords.listHeld(TEAM.id))].length;
      return [await installationStore.find(TEAM.id), await apiKeys.find(TEAM.id), held];
    };
    await expect.poll(left).toEqual([undefined, undefined, 0]);
    await team.restart();
    expect(await left()).toEqual([undefined, undefined, 0]);
    const owner = second.as('olga').in('#ops');
    await owner.types(ORDER);
    await owner.presses('Create and pay');
    await owner.sees("I've saved it");
    expect(hosting.charges(other)).toHaveLength(1);
    for (const id of [TEAM.id, SECOND_TEAM.id])
      expect(await team.app.ports.audit.verify(id)).toMatchObject({ ok: true });
    expect((await team.install(first)).text).toContain('installed');
    await first.as('olga').in('#ops').types('/vps list');
    await first.as('olga').in('#ops').sees('No hosting account is connected');
  });
});
