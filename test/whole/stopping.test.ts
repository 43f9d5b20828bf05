import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { createLog } from '../../src/log.ts';
import { TEAM } from '../../src/sandbox/slack/workspace.ts';
import { realSystem } from '../../src/system.ts';
import { orderOf } from '../support/acts.ts';
import { startTeam } from '../support/team.ts';

test('a stop waits for a confirmation that the database is slow to store, and for the order’s outcome', async () => {
  const errors: string[] = [];
  const log = { ...createLog('silent'), error: (words: string) => void errors.push(words) };
  await using team = await startTeam({ log });
  await team.manager.types(orderOf('web-1'));
  await team.manager.sees('Create and pay');
  const { ledger } = team.app.ports;
  const prepare = ledger.prepare.bind(ledger);
  const asked = vi.spyOn(ledger, 'prepare').mockImplementation(async (...confirmed) => {
    await sleep(1500);
    return prepare(...confirmed);
  });
  const pressed = team.manager.presses('Create and pay');
  await expect.poll(() => asked.mock.calls.length).toBe(1);
  await team.app.close();
  expect((await pressed)?.status).toBe(200);
  expect(errors).toEqual([]);
  await team.restart();
  await team.manager.sees("I've saved it");
  expect(team.hosting.charges(team.account)).toHaveLength(1);
});

test('a stop waits for an order that the background carries out, and for its outcome', async () => {
  await using team = await startTeam();
  await team.manager.types(orderOf('web-1'));
  await team.manager.sees('Create and pay');
  const { jobs, ledger } = team.app.ports;
  // As if the process that took the order had died.
  vi.spyOn(jobs, 'runNow').mockResolvedValueOnce(false);
  const settle = ledger.settle.bind(ledger);
  const settled = vi.spyOn(ledger, 'settle').mockImplementation(async (...outcome) => {
    await sleep(1000);
    return settle(...outcome);
  });
  await team.manager.presses('Create and pay');
  await expect.poll(() => settled.mock.calls.length).toBe(1);
  await team.app.close();
  expect(team.manager.screen()).toContain("I've saved it");
  await team.restart();
  expect(team.hosting.charges(team.account)).toHaveLength(1);
});

test('a stop waits for a reboot whose answer is slow, announces it, and stores that it was done', async () => {
  await using team = await startTeam({ servers: 1, settings: { HOSTING_TIMEOUT_MS: '10000' } });
  team.hosting.faults.add({ on: 'reboot', kind: 'slow', delayMs: 2500 });
  await team.operator.types('/vps reboot web-1');
  await team.operator.sees('Working on it');
  await team.app.close();
  expect(team.operator.screen()).toMatch(/@otto (is rebooting|rebooted) web-1/);
  await team.restart();
  const [entry] = await team.app.ports.audit.list({ workspaceId: TEAM.id, actions: ['reboot'], limit: 1 });
  expect(entry?.outcome).toBe('done');
});

test.each([
  '2000',
  '300000',
])('a stop waits for as long as an order may take, with a timeout of %s ms', async (timeoutMs) => {
  const slept: number[] = [];
  const sleep: typeof realSystem.sleep = (ms, signal) => {
    slept.push(ms);
    return realSystem.sleep(ms, signal);
  };
  const team = await startTeam({
    settings: { HOSTING_TIMEOUT_MS: timeoutMs },
    system: { ...realSystem, sleep },
  });
  slept.length = 0;
  await team[Symbol.asyncDispose]();
  expect(Math.max(...slept)).toBeGreaterThan(Number(timeoutMs));
});
