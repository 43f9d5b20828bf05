import { onTestFinished } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { realSystem } from '../../src/system.ts';
import { createMetrics } from '../../src/web/metrics.ts';
import { createWebServer, listen } from '../../src/web/server.ts';

type Parts = Parameters<typeof createWebServer>[0];
type Limits = Parameters<typeof createWebServer>[1];

/** The app's server, with only the parts that a test is about, until the test has ended. */
export async function startWebServer(parts: Partial<Parts>, limits?: Limits) {
  const server = createWebServer(
    {
      system: realSystem,
      log: silentLog,
      metrics: createMetrics(),
      slack: undefined,
      faults: async () => [],
      warnings: () => [],
      explain: () => 'no',
      findConnectLink: () => new Promise<never>(() => undefined),
      entry: undefined as never,
      ...parts,
    },
    limits,
  );
  const port = await listen(server, 0, '127.0.0.1');
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { server, port };
}
