import { expect, test } from 'vitest';
import { describeFuzz, fuzz } from './fuzz.ts';

/** `npm run fuzz -- --seed 7` repeats it, with as many more inputs as wanted. */
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000);
const INPUTS = 10_000;

test('ten thousand malformed inputs are answered, change nothing, show no secret and cause no defect', {
  timeout: 900_000,
}, async () => {
  const result = await fuzz({ seed: SEED, count: INPUTS });
  process.stdout.write(`${describeFuzz(result, SEED)}\n`);
  expect(result.failures).toEqual([]);
  expect(result.counts.size).toBe(10);
});
