import { spawnSync } from 'node:child_process';

/**
 * Builds once before the tests: those that kill processes run what `npm start` runs.
 * Faults of types are for `npm run check` to refuse; here they are only printed.
 */
export function setup(): void {
  const { status } = spawnSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
  if (status === null) throw new Error('the compiler could not be run');
}
