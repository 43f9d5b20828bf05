import { describe, expect, test } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { MINUTE_MS } from '../../../src/core/time.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { realSystem } from '../../../src/system.ts';
import { createServer, orderOf, passwordOf } from '../../support/acts.ts';
import { movableSystem } from '../../support/clocks.ts';
import { until } from '../../support/eventually.ts';
import { showOtherwise } from '../../support/other-answers.ts';
import { askDelete, startRuledTeam, TWO_PERSONS } from '../../support/ruled-team.ts';
import { startTeam, type Team } from '../../support/team.ts';

const SHORT_DOUBT = { config: { DOUBT_MINUTES: 0.03, HOSTING_TIMEOUT_MS: 3000 } };

/** The owner connects another key's account; earlier confirmations were not meant for it. */
async function connectOther({ hosting, app }: Team) {
  const other = hosting.accounts.create({ name: 'Other', balanceMinor: 50_000 });
  const key = new Secret(hosting.createKey(other));
  await app.ports.apiKeys.put(TEAM.id, key, USERS.olga.id, app.ports.system.now());
  return other;
}

/** The manager's order has been sent and its answer is lost; then another account is connected. */
async function loseAnswer(team: Team, on: 'create' | 'renew', kind: 'lost_after' | 'lost_before') {
  const { manager } = team;
  team.hosting.faults.add({ on, kind });
  await manager.types(on === 'create' ? orderOf('web-1') : '/vps renew web-1');
  await manager.presses(on === 'create' ? 'Create and pay' : 'Renew and pay');
  const { ledger } = team.app.ports;
  await until(async () => (await ledger.listOpen(TEAM.id))[0]?.state === 'unconfirmed', 1);
  const other = await connectOther(team);
  await manager.sees('We can’t tell whether web-1 was');
  await manager.sees('the hosting account was reconnected');
  await manager.closes();
  manager.overlooksOldMessages();
  return { manager, other };
}

describe.concurrent('when another hosting account is connected', () => {
  test('an approval that was requested before that is canceled, and nothing is charged', async () => {
    await using team = await startRuledTeam();
    await team.askCreate();
    const other = await connectOther(team);
    await team.approver.presses('Approve');
    await team.manager.sees('web-1 wasn’t created: the hosting account was reconnected');
    await team.approver.sees('Canceled: the hosting account was reconnected');
    expect([team.charges(), team.hosting.charges(other).length, team.creates()]).toEqual([0, 0, 0]);
    expect(await team.listAudit()).toContain('olga approval_answer failed account_changed');
    await team.manager.closes();
    await team.manager.presses('Request again…');
    await team.manager.presses('Request approval');
    await team.approver.presses('Approve');
    await team.manager.sees("I've saved it");
    expect([team.charges(), team.hosting.charges(other).length]).toEqual([0, 1]);
  });

  test('an approval that was requested before that is canceled, and one that was requested after that is carried out, even if the clock was set back in between', async () => {
    const system = movableSystem();
    await using team = await startRuledTeam(TWO_PERSONS, { servers: 1, system });
    await askDelete(team);
    system.stepWall(-2 * MINUTE_MS);
    const other = await connectOther(team);
    team.hosting.seedServers(other, 1, 'web');
    await team.approver.presses('Approve');
    await team.approver.sees('Canceled: the hosting account was reconnected after the request');
    expect(team.hosting.requests({ operation: 'delete' })).toEqual([]);
    await team.manager.closes();
    system.stepWall(-2 * MINUTE_MS);
    await team.askCreate('new-1');
    await team.approver.presses('Approve');
    await team.manager.sees("I've saved it");
    expect([team.charges(), team.hosting.charges(other).length]).toEqual([0, 1]);
  });

  test('nothing is charged for an approval that is being checked at that moment', async ({ expect }) => {
    await using team = await startRuledTeam();
    await team.askCreate();
    team.hosting.faults.add({ on: 'catalog', kind: 'slow', delayMs: 500 });
    const approving = team.approver.presses('Approve');
    await expect.poll(() => team.hosting.requests({ operation: 'catalog' }).length).toBeGreaterThan(1);
    const other = await connectOther(team);
    await approving;
    await team.manager.sees('The hosting account was reconnected after you confirmed');
    expect([team.charges(), team.hosting.charges(other).length]).toEqual([0, 0]);
  });

  test('an order that was confirmed but not sent is refused, and nothing is charged', async () => {
    await using team = await startTeam({
      exempt: { toldTruly: 'the first of two orders is written into the database, and not confirmed' },
    });
    const { ledger } = team.app.ports;
    const order = { plan: 'small', location: 'ams', image: 'debian-13', label: 'web-1' };
    const at = realSystem.now();
    const [account] = (await team.app.ports.apiKeys.find(TEAM.id))?.account ?? [];
    const other = await connectOther(team);
    await ledger.prepare({
      id: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
      workspaceId: TEAM.id,
      actorId: USERS.mara.id,
      channelId: 'C0OPS00001',
      purchase: { kind: 'create', order },
      at,
      account,
    });
    await team.manager.sees(
      'web-1 wasn’t created, and nothing was charged. The hosting account was reconnected',
    );
    expect([team.hosting.charges(team.account), team.hosting.charges(other)]).toEqual([[], []]);
    await team.manager.presses('Try again');
    await team.manager.presses('Create and pay');
    await team.manager.sees("I've saved it");
    expect(team.hosting.charges(other)).toHaveLength(1);
  });

  test('an unconfirmed create is never reported as not done; a manager decides that it was created in the old account', async () => {
    await using team = await startTeam(SHORT_DOUBT);
    const { manager, other } = await loseAnswer(team, 'create', 'lost_after');
    team.hosting.seedServers(other, 1, 'web');
    await new Promise((resolve) => setTimeout(resolve, 2500));
    manager.doesNotSee('You can order again');
    await manager.types('/vps status');
    await manager.presses('Resolve web-1…');
    await manager.sees('those of the account that is connected now');
    expect(await manager.optionsOf('Which server was created?')).toEqual([
      'It was created in the previous account',
      'web-1',
      'None: it wasn’t created',
    ]);
    await manager.fills({ 'Which server was created?': 'It was created in the previous account' });
    await manager.presses('Save');
    await manager.sees('@mara marked your order for web-1 as done, but we can’t see the server');
    expect((await team.app.ports.ledger.sumSpent(TEAM.id, '', 0)).workspace).toBe(590);
    expect(team.hosting.requests({ operation: 'create' })).toHaveLength(1);
    expect([team.hosting.charges(team.account).length, team.hosting.charges(other).length]).toEqual([1, 0]);
  });

  test('the label of an unconfirmed create can’t be ordered again before a manager has decided', async () => {
    await using team = await startTeam(SHORT_DOUBT);
    const { manager, other } = await loseAnswer(team, 'create', 'lost_before');
    await manager.types(orderOf('web-1'));
    await manager.presses('Create and pay');
    await manager.sees('is still unconfirmed');
    await manager.closes();
    await manager.types('/vps status');
    await manager.presses('Resolve web-1…');
    await manager.fills({ 'Which server was created?': 'None: it wasn’t created' });
    await manager.presses('Save');
    await manager.sees('web-1 wasn’t created. A manager closed this order');
    await manager.closes();
    await createServer(manager);
    expect([team.hosting.charges(team.account).length, team.hosting.charges(other).length]).toEqual([0, 1]);
  });

  test('the month of an unconfirmed renewal can’t be renewed again with a new key of the account', async () => {
    await using team = await startTeam({ servers: 1, ...SHORT_DOUBT });
    const { manager } = await loseAnswer(team, 'renew', 'lost_before');
    const key = new Secret(team.hosting.createKey(team.account));
    await team.app.ports.apiKeys.put(TEAM.id, key, USERS.olga.id, realSystem.now());
    await manager.types('/vps renew web-1');
    await manager.presses('Renew and pay');
    await manager.sees('You won’t be charged twice');
    expect(team.hosting.requests({ operation: 'renew' })).toHaveLength(1);
    expect(team.hosting.charges(team.account)).toEqual([]);
  });

  test('an answer to a request that was sent before still counts, with its password', async ({ expect }) => {
    await using team = await startTeam();
    const { manager } = team;
    team.hosting.faults.add({ on: 'create', kind: 'slow', delayMs: 700 });
    await manager.types(orderOf('web-1'));
    const pressed = manager.presses('Create and pay');
    await expect.poll(() => team.hosting.requests({ operation: 'create' }).length).toBe(1);
    const other = await connectOther(team);
    await pressed;
    await manager.sees("I've saved it");
    const password = passwordOf(team);
    await manager.sees(password);
    await manager.closes();
    manager.overlooksOldMessages();
    await manager.types('/vps password web-1');
    await manager.sees(password);
    expect([team.hosting.charges(team.account).length, team.hosting.charges(other).length]).toEqual([1, 0]);
  });

  test('a delete that was in progress in the old account is not reported as done', async ({ expect }) => {
    await using team = await startRuledTeam(TWO_PERSONS, {
      servers: 1,
      settings: { HOSTING_TIMEOUT_MS: '3000' },
    });
    await askDelete(team);
    team.hosting.faults.add({ on: 'delete', kind: 'hang_before' });
    const approving = team.approver.presses('Approve');
    await expect.poll(() => team.hosting.requests({ operation: 'delete' }).length).toBe(1);
    await connectOther(team);
    await approving;
    await team.manager.sees('We’re not sure whether web-1 was deleted');
    await team.manager.sees('Check the previous account’s page');
    team.manager.doesNotSee('Show server');
    expect(team.labels()).toEqual(['web-1']);
  });

  test('an ID that exists in both accounts does not hide a server that was paid', async () => {
    await using team = await startTeam(SHORT_DOUBT);
    const { ledger } = team.app.ports;
    const { manager } = team;
    await createServer(manager, 'old-1');
    const [made] = team.hosting.listServers(team.account);
    const other = await connectOther(team);
    const like = { id: made?.id ?? 0, label: 'web-1', state: 'running' };
    // The other account's new server comes under an id that the first one has given out.
    showOtherwise(team, () => ({
      fetchServers: async () => ({
        servers: team.hosting.charges(other).length > 0 ? [like] : [],
        extent: 'whole',
        unreadableCount: 0,
      }),
    }));
    team.hosting.faults.add({ on: 'create', kind: 'lost_after' });
    await manager.types(orderOf('web-1'));
    await manager.presses('Create and pay');
    await manager.sees('We can’t tell whether web-1 was created');
    manager.doesNotSee('You can order again');
    await manager.closes();
    await manager.presses('Resolve…');
    await manager.fills({ 'Which server was created?': 'web-1' });
    await manager.presses('Save');
    await manager.sees(`@mara marked your order for web-1 as done (server ${like.id})`);
    expect(await ledger.listOpen(TEAM.id)).toEqual([]);
  });
});
