import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { createUnacknowledged } from '../../src/slack/socket.ts';
import { engines, entry, markSent, newCreate, T0 } from '../db/support.ts';
import { handClock } from '../slack/support/fakes.ts';
import { startWebServer } from './support.ts';

const TOKEN = 'a-token-of-the-metrics-tests';

async function startServer(token?: string, slack?: RequestListener): Promise<string> {
  const metricsToken = token === undefined ? undefined : new Secret(token);
  const { port } = await startWebServer({ slack, metricsToken });
  return `http://127.0.0.1:${port}`;
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
    `Basic ${TOKEN}`,
    TOKEN,
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(1)}`,
    `Bearer ${TOKEN.toUpperCase()}`,
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

describe.each(engines)('what is counted in the database for /metrics, on $name:', ({ make }) => {
  it('orders that have not ended, by state, and when the oldest unconfirmed one was confirmed', async () => {
    const store = await make();
    const { ledger, counts } = store;
    const reason = { code: 'no_answer', details: {} } as const;
    const order = async (at: number, ends: 'prepared' | 'sent' | 'unconfirmed' | 'settled') => {
      const operation = newCreate(`web-${at}`, { at: T0 + at, workspaceId: `T${at}` });
      const { id } = operation;
      await ledger.prepare(operation);
      if (ends !== 'prepared') await markSent(store, id, T0 + 10, [], [`account ${at}`]);
      if (ends === 'unconfirmed') await ledger.markUnconfirmed(id, { reason }, entry());
      if (ends === 'settled') await ledger.settle(id, { at: T0 + 20, serverId: 7 }, entry());
    };
    await order(1, 'settled');
    await order(3, 'unconfirmed');
    await order(2, 'unconfirmed');
    await order(4, 'prepared');
    await order(5, 'sent');
    const deletion = { kind: 'delete', serverId: 7, label: 'web-1' } as const;
    await ledger.confirmDelete({ id: newCreate().id, workspaceId: 'T1', actorId: 'U1', deletion, at: T0 });
    const counted = await counts();
    expect(counted.operations).toEqual({ prepared: 1, sent: 1, unconfirmed: 2 });
    expect(counted.oldestUnconfirmedAt).toBe(T0 + 2);
  });

  it('jobs of each kind that are due and that no process is running, and those that failed', async () => {
    const { jobStore, counts } = await make();
    const job = (kind: string, key: string, dueAt = T0 - 1) =>
      jobStore.add({ kind, key, workspaceId: 'T1', dueAt });
    await job('post', 'due');
    await job('post', 'later', T0 + 60_000);
    await job('post', 'running');
    await jobStore.lease('post', 'running', { owner: 'process', now: T0, until: T0 + 60_000 });
    await job('fail', 'failed');
    const failed = await jobStore.lease('fail', 'failed', { owner: 'process', now: T0, until: T0 + 60_000 });
    if (failed) await jobStore.end(failed, T0 + 60_000, 2);
    const { jobs } = await counts();
    expect([...jobs].sort((one, other) => one.kind.localeCompare(other.kind))).toEqual([
      { kind: 'fail', due: 0, failing: 1 },
      { kind: 'post', due: 1, failing: 0 },
    ]);
  });
});

describe('how long Slack waited for an acknowledgment', () => {
  const read = async (url: string) => {
    const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
    return (await response.text()).match(/^vps_slack_ack_seconds_count (\d+)$/m)?.[1];
  };

  it('is counted over HTTP for what was acknowledged, and for what Slack gave up, but not for what was refused', async () => {
    const url = await startServer(TOKEN, (request, response) => {
      const { status } = request.headers;
      request.resume().once('end', () => status !== undefined && response.writeHead(Number(status)).end());
    });
    const post = (headers: Record<string, string>, signal?: AbortSignal) =>
      fetch(`${url}/slack/events`, { method: 'POST', body: 'x', headers, ...(signal && { signal }) });
    await post({ status: '401' });
    await post({ status: '200' });
    await expect.poll(() => read(url)).toBe('1');
    await post({}, AbortSignal.timeout(200)).catch(() => undefined);
    await expect.poll(() => read(url)).toBe('2');
  });

  it('is counted in Socket Mode for what was acknowledged, and for what Slack gave up', async () => {
    const clock = handClock();
    const waited: number[] = [];
    const envelopes = createUnacknowledged(clock.system, (ms) => waited.push(ms));
    envelopes.add('acknowledged');
    await clock.pass(100);
    envelopes.remove('acknowledged');
    envelopes.remove('acknowledged');
    envelopes.add('given up');
    await clock.pass(4000);
    envelopes.add('another');
    expect(waited).toEqual([100, 4000]);
  });
});
