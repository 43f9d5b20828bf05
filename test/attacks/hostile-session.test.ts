import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { User } from '../../src/sandbox/slack/workspace.ts';
import {
  actAsUser,
  attack,
  calmDown,
  checkAnswers,
  checkMoney,
  checkPasswords,
  checkPermissions,
  countOrders,
  disturb,
  type HostileTeam,
  PRIVILEGED,
  settleOrders,
  startHostile,
} from './support/hostile.ts';
import { triesOf } from './support/tries.ts';

const SECONDS = Number(process.env.HOSTILE_SECONDS ?? triesOf({ short: 2, long: 900 }));
const SEED = Number(process.env.HOSTILE_SEED ?? Date.now() % 1_000_000);

/** A busy machine gets these done, too. */
const FEWEST = 40;

const countTried = ({ tried }: HostileTeam) => [...tried.values()].reduce((sum, times) => sum + times, 0);

function describeTried({ tried }: HostileTeam): string {
  return [...tried].map(([kind, times]) => `${times} ${kind}`).join(', ');
}

/** One act of a user or an attacker after the other, until the time is over. */
async function rage(team: HostileTeam, user: User, until: number): Promise<void> {
  while (Date.now() < until || countTried(team) < FEWEST) {
    const chance = team.dice.number(100);
    if (chance < 65) await actAsUser(team, user);
    else if (chance < 93) await attack(team);
    else await disturb(team);
    await sleep(team.dice.number(20));
  }
}

test('a hostile session ends with the money, the passwords and the permissions in order', {
  timeout: (SECONDS + 200) * 1000,
}, async () => {
  process.stdout.write(`hostile session: HOSTILE_SEED=${SEED}, ${SECONDS} s\n`);
  await using team = await startHostile(SEED);
  const until = Date.now() + SECONDS * 1000;
  await Promise.all(PRIVILEGED.map((user) => rage(team, user, until)));
  await calmDown(team);
  await settleOrders(team);
  if (SECONDS > 10) process.stdout.write(`hostile session: ${countOrders(team)}; ${describeTried(team)}\n`);
  checkMoney(team);
  checkPasswords(team);
  await checkPermissions(team);
  checkAnswers(team);
  expect(countTried(team)).toBeGreaterThanOrEqual(FEWEST);
});
