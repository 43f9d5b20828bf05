import { expect, test } from 'vitest';
import { realSystem } from '../../src/system.ts';
import { startTeam } from '../support/team.ts';

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
