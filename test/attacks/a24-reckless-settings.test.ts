import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config.ts';
import { realSystem } from '../../src/system.ts';
import { startTeam } from '../support/team.ts';
import { countTries } from './support/tries.ts';

const count = countTries('A24');

test.each([
  '2000',
  '300000',
])('a stop waits for as long as an order may take, with a timeout of %s ms', async (timeoutMs) => {
  count();
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

test.each(['0', '0.9', '-1'])('a doubt of less than a minute is no setting: %s', async (minutes) => {
  await using team = await startTeam();
  count();
  const start = () => parseConfig({ ...team.environment, DOUBT_MINUTES: minutes });
  expect(start).toThrow('DOUBT_MINUTES');
});
