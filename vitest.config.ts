import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { defineConfig } from 'vitest/config';
import { ALONE, SLOW } from './test/support/slow-files.ts';

/**
 * Test databases, and the server of PostgreSQL, are kept in memory where there is room (Linux). On a disk each commit waits until
 * it is synced, for seconds beside a busy machine. Killing a process loses nothing in memory either.
 */
function chooseTemporaryFolder(): string {
  const ONE_GIB = 2 ** 30;
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize > ONE_GIB ? '/dev/shm' : tmpdir();
  } catch {
    return tmpdir();
  }
}

process.env.TMPDIR = chooseTemporaryFolder();

/**
 * `npm test` leaves out the slow files; one that is named in the command runs all the same. `TESTS=all` runs everything,
 * `TESTS=whole` the stories of the whole app and the slow files, as CI does on the Node of the image, and `TESTS=alone` what is
 * measured (with `--maxWorkers=1`).
 */
const { TESTS } = process.env;
const isNamed = process.argv.some((argument) => argument.startsWith('test/'));
const leavesOutSlow = TESTS === undefined && !isNamed;
const toFiles = (paths: readonly string[]) => paths.map((path) => `test/${path}.test.ts`);
const aloneFiles = toFiles(ALONE);
const slowFiles = toFiles(SLOW);

function chooseFiles(): { include: string[]; exclude: string[] } {
  if (TESTS === 'alone') return { include: aloneFiles, exclude: [] };
  if (TESTS === 'whole') return { include: ['test/whole/**/*.test.ts', ...slowFiles], exclude: aloneFiles };
  return { include: ['test/**/*.test.ts'], exclude: leavesOutSlow ? [...slowFiles, ...aloneFiles] : [] };
}

export default defineConfig({
  test: {
    ...chooseFiles(),
    globalSetup: [
      'test/support/build.ts',
      'test/support/postgres-setup.ts',
      ...(leavesOutSlow ? ['test/support/slow-files.ts'] : []),
    ],
    // Most tests wait for sockets and timers more than they compute: with four, two processors were idle for a third of the time.
    maxWorkers: 6,
    // Of the tests of one file: with five apps in one process, a busy machine answered Slack too late.
    maxConcurrency: 3,
    // Twice Node's own: what a test makes is mostly gone before it is looked at a second time.
    execArgv: ['--max-semi-space-size=32'],
    // Workers read what another one has transformed from files in node_modules, rather than from the main process.
    experimental: { fsModuleCache: true },
    // Our modules hold no state, and reloading them for each file took a third of the time.
    isolate: false,
    // A machine that gets half of its processors takes this long for the longest of them.
    testTimeout: 180_000,
    // A few tests race with timers of the app; CI prints which one needed its second try, and fails if that fails, too.
    retry: process.env.CI === 'true' ? 1 : 0,
    hookTimeout: 180_000,
    // Generous: a test that passes ends as soon as it can, and a busy machine may be ten times slower.
    expect: { poll: { timeout: 60_000 } },
    unstubGlobals: true,
  },
});
