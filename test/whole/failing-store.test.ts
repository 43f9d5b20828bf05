import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, test, vi } from 'vitest';
import { withResolvers } from '../../src/core/promises.ts';
import { type OrderingTeam, startOrdering } from '../support/ordering-team.ts';
import type { Team } from '../support/team.ts';

const MAY_GO_THROUGH = 'It may still go through, so don’t repeat it';
const CREATED = /web-1 (was|is being) created \(/;
const NOT_CHARGED = 'wasn’t created, and nothing was charged';

/** Makes writes to the database fail, as a full disk does, from another connection; returns the way to end it. */
function failWrites({ environment }: Team, on: string): () => void {
  const other = new DatabaseSync((environment.DATABASE_URL ?? '').replace(/^sqlite:/, ''));
  other.exec(`create trigger full before ${on} begin select raise(abort, 'disk is full'); end`);
  return () => {
    other.exec('drop trigger full');
    other.close();
  };
}

/** The manager pays while the database refuses these writes. */
async function payWhile(writesFail: string): Promise<OrderingTeam & { repair(): void }> {
  const team = await startOrdering();
  const repair = failWrites(team, writesFail);
  await team.manager.presses('Create and pay');
  return Object.assign(team, { repair });
}

/** Two turns of the background. */
const laterTurns = (team: OrderingTeam) => team.system.sleep(1100);

test.each([
  ['fails', 'Check the outcome', 0],
  ['ends well', 'Server ordered', 1],
])('a confirmation that takes longer than Slack waits, and %s, is answered in its form and by a message', async (end, title, charges) => {
  await using team = await startOrdering();
  const { ledger } = team.app.ports;
  const prepare = ledger.prepare.bind(ledger);
  const { promise, resolve } = withResolvers();
  const asked = vi.spyOn(ledger, 'prepare').mockImplementation(async (...confirmed) => {
    await promise;
    if (end === 'fails') throw new Error('statement timeout');
    return prepare(...confirmed);
  });
  const pressed = team.manager.presses('Create and pay');
  await expect.poll(() => asked.mock.calls.length).toBe(1);
  team.system.move(2300);
  await pressed;
  await team.manager.sees('This is taking longer than usual');
  resolve();
  await team.manager.sees(end === 'fails' ? MAY_GO_THROUGH : CREATED);
  await expect.poll(() => team.manager.modal()?.shown).toContain(title);
  expect(team.charges()).toBe(charges);
});

test('the hosting API’s refusal stays the outcome of an order, although the database first fails to store it', async () => {
  await using team = await startOrdering();
  team.hosting.faults.add({ on: 'create', kind: 'error', code: 'not_enough_balance' });
  vi.spyOn(team.app.ports.ledger, 'refuse').mockRejectedValueOnce(new Error('lock timeout'));
  await team.manager.presses('Create and pay');
  await team.manager.sees(NOT_CHARGED);
  team.manager.doesNotSee('not sure yet');
  expect(await team.listOpen()).toEqual([]);
});

test('an order whose mark as sent the database has lost is looked for when its answer is lost, too, and paid once', async () => {
  await using team = await startOrdering();
  vi.spyOn(team.app.ports.ledger, 'markSent').mockResolvedValueOnce('sent');
  team.hosting.faults.add({ on: 'create', kind: 'lost_after' });
  await team.manager.presses('Create and pay');
  await team.manager.sees('not sure yet');
  team.manager.doesNotSee(NOT_CHARGED);
  await team.manager.sees(/web-1 was created/);
  expect(team.charges()).toBe(1);
});

describe('while the database refuses', () => {
  test('every change of an order, its user reads that it may go through, and it does, once', async () => {
    await using team = await payWhile('update on operations');
    await team.manager.sees(MAY_GO_THROUGH);
    team.manager.doesNotSee(NOT_CHARGED);
    expect(team.creates()).toBe(0);
    team.repair();
    await team.manager.sees(CREATED);
    expect(team.charges()).toBe(1);
    expect(await team.listOpen()).toEqual([]);
  });

  test('every change of an order for too long, it is not paid any more, and its user reads that', async () => {
    await using team = await payWhile('update on operations');
    await team.manager.sees(MAY_GO_THROUGH);
    team.system.move(3 * 60_000);
    team.repair();
    await team.manager.sees(NOT_CHARGED);
    await laterTurns(team);
    expect(team.creates()).toBe(0);
  });

  test('the confirmation itself, its user does not read that nothing was done, though nothing is', async () => {
    await using team = await payWhile('insert on operations');
    await team.manager.sees(MAY_GO_THROUGH);
    team.manager.doesNotSee(NOT_CHARGED);
    team.repair();
    await laterTurns(team);
    expect(team.creates()).toBe(0);
    expect(await team.listOpen()).toEqual([]);
  });

  test('the step right before the request, a user who reads that nothing was charged is never charged', async () => {
    await using team = await payWhile("update of state on operations when new.state = 'sent'");
    await team.manager.sees(NOT_CHARGED);
    team.repair();
    await laterTurns(team);
    expect(team.creates()).toBe(0);
    expect(await team.listOpen()).toEqual([]);
  });

  test('the outcome of a request that was sent, it is reported when it is stored, and paid once', async () => {
    await using team = await payWhile("update of state on operations when new.state = 'settled'");
    await expect.poll(team.creates).toBe(1);
    team.manager.doesNotSee(NOT_CHARGED);
    team.repair();
    await team.manager.sees("I've saved it");
    expect(team.charges()).toBe(1);
  });
});
