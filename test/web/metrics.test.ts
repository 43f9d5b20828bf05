import { describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { silentLog } from '../../src/log.ts';
import { realSystem } from '../../src/system.ts';
import { createMetrics } from '../../src/web/metrics.ts';
import { createWebServer, listen } from '../../src/web/server.ts';

const TOKEN = 'a-token-of-the-metrics-tests';

async function startServer(token?: string): Promise<string> {
  const parts = {
    system: realSystem,
    log: silentLog,
    metrics: createMetrics(),
    metricsToken: token === undefined ? undefined : new Secret(token),
    faults: async () => [],
    warnings: () => [],
    explain: () => 'no',
    findConnectLink: () => new Promise<never>(() => undefined),
    entry: undefined as never,
  };
  const server = createWebServer(parts);
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${await listen(server, 0, '127.0.0.1')}`;
}

describe('/metrics', () => {
  it('does not exist without METRICS_TOKEN, not even for this machine', async () => {
    const url = await startServer();
    const tries: Record<string, string>[] = [
      {},
      { authorization: 'Bearer undefined' },
      { authorization: 'Bearer ' },
    ];
    for (const headers of tries) expect((await fetch(`${url}/metrics`, { headers })).status).toBe(404);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
  });

  it('returns its numbers to a request with the token, with “Bearer” in upper or lower case', async () => {
    const url = await startServer(TOKEN);
    for (const authorization of [`Bearer ${TOKEN}`, `bearer  ${TOKEN}`]) {
      const response = await fetch(`${url}/metrics`, { headers: { authorization } });
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
      expect(await response.text()).toContain('vps_operations_open');
    }
  });

  it.each([
    '',
    'Bearer',
    `Basic ${TOKEN}`,
    TOKEN,
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(1)}`,
    `Bearer ${TOKEN.toUpperCase()}`,
    `Bearer x, Bearer ${TOKEN}`,
  ])('answers a request without the token with 401: “%s”', async (authorization) => {
    const url = await startServer(TOKEN);
    const paths = ['/metrics', `/metrics?token=${TOKEN}`];
    for (const path of paths) {
      const response = await fetch(`${url}${path}`, { headers: { authorization } });
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    }
    expect((await fetch(`${url}/metrics`, { method: 'HEAD', headers: { authorization } })).status).toBe(401);
  });
});
