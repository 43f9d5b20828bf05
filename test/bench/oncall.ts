import { spawnSync } from 'node:child_process';
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { checkDigests } from './digest.ts';
import { ROOT } from './processes.ts';
import { measureRequests } from './requests.ts';
import { countSteps } from './steps.ts';
import { measureTyping } from './typing.ts';

// What a user on call waits for, and how much they type: every figure is measured, and compared with what the docs promise.
const SECTIONS = {
  steps: countSteps,
  requests: measureRequests,
  typing: measureTyping,
  digest: checkDigests,
};

const { values: asked } = parseArgs({
  options: {
    /** Only this section. */
    only: { type: 'string' },
    /** Measures the build that is there. */
    built: { type: 'boolean' },
  },
});

if (
  !asked.built &&
  spawnSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' }).status !== 0
)
  process.exit(1);
const failures: string[] = [];
for (const [name, measure] of Object.entries(SECTIONS))
  if (asked.only === undefined || asked.only === name) failures.push(...(await measure()));
const [load = 0] = loadavg();
console.log(
  `\nOther programs on this machine count in: load ${load.toFixed(1)} on ${availableParallelism()} cores.`,
);
for (const failure of failures) console.error(`Beyond the promise: ${failure}.`);
if (failures.length > 0) process.exitCode = 1;
