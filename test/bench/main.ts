import { spawnSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { measureAnswers, measureLists } from './answers.ts';
import type { Figure } from './figures.ts';
import { measureLimiter } from './limiter.ts';
import { ROOT } from './processes.ts';
import { measureRequests } from './requests.ts';
import { openSetting } from './setting.ts';
import { measureStartUp } from './start-up.ts';
import { countSteps } from './steps.ts';
import { measureTyping } from './typing.ts';
import { countWork } from './work.ts';

// `npm run bench` measures everything that the docs and the issues promise, and prints one table.
const { POSTGRES_URL: postgres } = process.env;

const SECTIONS: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  answers: () => measureAnswers(),
  postgres: async () => (postgres === undefined ? [] : measureAnswers(postgres)),
  lists: measureLists,
  typing: measureTyping,
  limiter: measureLimiter,
  start: async () => {
    await using setting = await openSetting();
    return await measureStartUp(setting.environment);
  },
  work: countWork,
  requests: measureRequests,
  steps: countSteps,
};

/** Only these sections, with commas between them. */
const { values: asked } = parseArgs({ options: { only: { type: 'string' } } });
const names = asked.only?.split(',') ?? Object.keys(SECTIONS);
const unknown = names.find((name) => !Object.hasOwn(SECTIONS, name));
if (unknown !== undefined) {
  console.error(`There is no section ${unknown}: choose of ${Object.keys(SECTIONS).join(', ')}.`);
  process.exit(1);
}
if (spawnSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' }).status !== 0)
  process.exit(1);

const figures: Figure[] = [];
for (const name of names) {
  console.error(`${name} …`);
  const failed = (error: unknown) => [{ what: name, measured: `failed: ${error}`, isMet: false }];
  figures.push(...((await SECTIONS[name]?.().catch(failed)) ?? []));
}
const rows = figures.map(({ what, isMet, ...row }) => [
  what,
  { ...row, met: isMet === undefined ? '' : isMet ? 'yes' : 'NO' },
]);
console.table(Object.fromEntries(rows), ['measured', 'x p50', 'x CPU', 'aim', 'met']);
const [load = 0] = loadavg();
console.log(`Node.js ${process.version}, ${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'}), load ${load.toFixed(1)}: other programs count in.
"x" is the ratio to a bare Bolt that posts the same bytes; figures are medians.${postgres === undefined ? ' Without POSTGRES_URL, nothing was measured on PostgreSQL.' : ''}`);
if (figures.some(({ isMet }) => isMet === false)) process.exitCode = 1;
process.exit();
