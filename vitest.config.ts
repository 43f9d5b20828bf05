import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/build.ts'],
    // Most tests wait for sockets and timers more than they compute.
    maxWorkers: 2,
    // No module of ours keeps anything; loading them anew for each file took a third of the time.
    isolate: false,
    testTimeout: 15_000,
    hookTimeout: 30_000,
    unstubGlobals: true,
  },
});
