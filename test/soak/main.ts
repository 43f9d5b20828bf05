// `npm run soak -- --minutes 15 --seed 7`: several processes under load and misfortunes, for as long as wanted.
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setup as build } from '../support/build.ts';
import { listMissingPrograms } from './processes.ts';
import { runSoak } from './soak.ts';

const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } });
const minutes = Number(values.minutes ?? 10);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const missing = listMissingPrograms();
if (missing.length > 0) throw new Error(`this machine lacks ${missing.join(', ')}`);
build();
const print = (words: string) => process.stdout.write(`${words}\n`);

print(`soak: ${minutes} minutes, --seed ${seed}`);
const written = join(tmpdir(), `soak-${seed}-processes.log`);
const { violations, figures, exitCodes } = await runSoak({
  seed,
  loadMs: minutes * 60_000,
  isLong: true,
  onEnd: (output) => writeFileSync(written, output),
});
print(figures);
for (const words of violations) print(`VIOLATION ${words}`);
print(`What the processes wrote: ${written}`);
if (exitCodes.some((code) => code !== 0)) print(`VIOLATION exit codes ${exitCodes.join(', ')}`);
process.exitCode = violations.length > 0 || exitCodes.some((code) => code !== 0) ? 1 : 0;
