import { spawnSync } from 'node:child_process';

/**
 * Builds once before the tests, since tests that kill processes run what `npm start` runs.
 * Type errors are only printed here; `npm run check` fails on them.
 */
export function setup(): void {
  const { status } = spawnSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
  if (status === null) throw new Error('the compiler could not be run');
}
