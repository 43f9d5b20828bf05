import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/build.ts'],
    // Most tests wait for sockets and timers more than they compute.
    maxWorkers: 3,
    // Our modules hold no state, and reloading them for each file took a third of the time.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Generous: a test that passes ends as soon as it can, and a busy machine may be ten times slower.
    expect: { poll: { timeout: 30_000 } },
    unstubGlobals: true,
  },
});
