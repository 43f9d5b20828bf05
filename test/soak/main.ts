// `npm run soak -- --hours 8 --seed 7` (or --minutes): several processes under load and misfortunes, for as long as wanted.
import { appendFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setup as build } from '../support/build.ts';
import { listMissingPrograms } from '../support/own-postgres.ts';
import { runSoak } from './soak.ts';

const { values } = parseArgs({
  options: { hours: { type: 'string' }, minutes: { type: 'string' }, seed: { type: 'string' } },
});
const minutes = Number(values.hours ?? 0) * 60 + Number(values.minutes ?? (values.hours ? 0 : 10));
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const missing = listMissingPrograms();
if (missing.length > 0) throw new Error(`this machine lacks ${missing.join(', ')}`);
await build();
const print = (words: string) => process.stdout.write(`${words}\n`);

print(`soak: ${minutes} minutes, --seed ${seed}`);
const written = join(tmpdir(), `soak-${seed}-processes.log`);
const { violations, figures, exitCodes } = await runSoak({
  seed,
  loadMs: minutes * 60_000,
  isLong: true,
  onOutput: (output) => appendFileSync(written, output),
  say: print,
});
print(figures);
for (const words of violations) print(`VIOLATION ${words}`);
print(`What the processes wrote: ${written}`);
if (exitCodes.some((code) => code !== 0)) print(`VIOLATION exit codes ${exitCodes.join(', ')}`);
process.exitCode = violations.length > 0 || exitCodes.some((code) => code !== 0) ? 1 : 0;
