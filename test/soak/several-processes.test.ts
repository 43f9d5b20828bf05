import { expect, test } from 'vitest';
import { listMissingPrograms } from '../support/own-postgres.ts';
import { runSoak } from './soak.ts';

const missing = listMissingPrograms();
const isLeftOut = missing.length > 0 && process.env.CI !== 'true';
if (isLeftOut) process.stderr.write(`No soak: this machine lacks ${missing.join(', ')}\n`);

const SEED = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000);
const LOAD_MS = 8000;

test.skipIf(isLeftOut)(
  'three processes that are killed while PostgreSQL restarts charge once for each order, and tell every outcome',
  { timeout: 240_000 },
  async () => {
    expect(missing).toEqual([]);
    process.stdout.write(`soak: SOAK_SEED=${SEED}, ${LOAD_MS / 1000} s of load\n`);
    const { violations, figures, exitCodes } = await runSoak({ seed: SEED, loadMs: LOAD_MS, isLong: false });
    process.stdout.write(`${figures}\n`);
    expect(violations).toEqual([]);
    expect(exitCodes).toEqual([0, 0, 0]);
  },
);
