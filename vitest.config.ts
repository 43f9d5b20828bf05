import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/build.ts'],
    // Most tests wait for sockets and timers more than they compute.
    maxWorkers: 2,
    // Our modules hold no state, and reloading them for each file took a third of the time.
    isolate: false,
    testTimeout: 15_000,
    hookTimeout: 30_000,
    // The default of one second is too short on a busy machine.
    expect: { poll: { timeout: 10_000 } },
    unstubGlobals: true,
  },
});
