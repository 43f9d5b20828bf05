import { type RequestOptions, request } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/domain/secret.ts';
import { silentLog } from '../../src/log.ts';
import { realSystem } from '../../src/system.ts';
import { createMetrics } from '../../src/web/metrics.ts';
import { describeOpenMetrics, findMetricsRefusal } from '../../src/web/metrics-access.ts';
import { createWebServer, listen } from '../../src/web/server.ts';
import { startTeam } from '../support/team.ts';

const TOKEN = new Secret('a-token-of-the-metrics-tests');

type Asked = Parameters<typeof findMetricsRefusal>[0];

const here = (more: Partial<Asked> = {}): Asked => ({
  remoteAddress: '127.0.0.1',
  httpVersion: '1.1',
  ...more,
  headers: { host: '127.0.0.1:3000', ...more.headers },
});

describe('without METRICS_TOKEN, /metrics', () => {
  it.each([
    '127.0.0.1',
    '127.0.0.53',
    '::1',
    '::ffff:127.0.0.1',
  ])('is shown to this machine (%s)', (remoteAddress) => {
    expect(findMetricsRefusal(here({ remoteAddress }), undefined)).toBeUndefined();
  });

  it.each([
    'localhost:3000',
    'LOCALHOST',
    '[::1]:3000',
    '127.0.0.1',
  ])('is shown where it was asked for as %s', (host) => {
    expect(findMetricsRefusal(here({ headers: { host } }), undefined)).toBeUndefined();
  });

  it.each([
    '10.0.0.7',
    '192.168.1.2',
    '::ffff:10.0.0.7',
    '1270.0.1',
    '2001:db8::1',
    undefined,
  ])('is refused to another machine (%s)', (remoteAddress) => {
    expect(findMetricsRefusal(here({ remoteAddress }), undefined)).toMatchObject({ status: 403 });
  });

  it.each([
    { forwarded: 'for=10.0.0.7' },
    { 'x-forwarded-for': '10.0.0.7' },
    { 'x-forwarded-for': '' },
    { 'x-forwarded-proto': 'https' },
    { 'x-forwarded-host': 'vps.example.com' },
    { 'x-real-ip': '10.0.0.7' },
    { 'x-client-ip': '10.0.0.7' },
    { 'cf-connecting-ip': '10.0.0.7' },
    { 'true-client-ip': '10.0.0.7' },
    { via: '1.1 proxy' },
    { host: 'vps.example.com' },
    { host: 'localhost.example.com' },
    { host: '127.0.0.1.example.com' },
    { host: undefined },
  ])('is refused where a proxy on this machine passes the request on (%j)', (headers) => {
    expect(findMetricsRefusal(here({ headers }), undefined)).toMatchObject({
      status: 403,
      words: expect.stringContaining('METRICS_TOKEN'),
    });
  });

  it('is refused over HTTP/1.0, which nginx speaks to what is behind it', () => {
    expect(findMetricsRefusal(here({ httpVersion: '1.0' }), undefined)).toMatchObject({ status: 403 });
  });
});

describe('with METRICS_TOKEN, /metrics', () => {
  it.each([
    '127.0.0.1',
    '10.0.0.7',
  ])('is shown to whoever has the token, also through a proxy (%s)', (remoteAddress) => {
    const headers = {
      authorization: `Bearer ${TOKEN.reveal()}`,
      'x-forwarded-for': '10.0.0.8',
      host: 'vps.example.com',
    };
    expect(findMetricsRefusal(here({ remoteAddress, headers }), TOKEN)).toBeUndefined();
  });

  it('takes the name of the scheme in any case, as RFC 9110 has it', () => {
    const authorization = `bearer  ${TOKEN.reveal()}`;
    expect(findMetricsRefusal(here({ headers: { authorization } }), TOKEN)).toBeUndefined();
  });

  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    `Basic ${TOKEN.reveal()}`,
    TOKEN.reveal(),
    `Bearer ${TOKEN.reveal()}x`,
    `Bearer ${TOKEN.reveal().slice(1)}`,
    `Bearer ${TOKEN.reveal().toUpperCase()}`,
    `Bearer x, Bearer ${TOKEN.reveal()}`,
  ])('is refused to everybody else, on this machine as well (%s)', (authorization) => {
    expect(findMetricsRefusal(here({ headers: { authorization } }), TOKEN)).toMatchObject({ status: 401 });
  });
});

describe('at a public address', () => {
  it.each([
    ['https://vps.example.com', undefined, true],
    ['https://vps.example.com', TOKEN, false],
    ['http://127.0.0.1:3000', undefined, false],
    [undefined, undefined, false],
  ])('%s, the operator is told when a proxy could show the numbers to everybody', (publicUrl, token, isTold) => {
    expect(describeOpenMetrics(publicUrl, token) !== undefined).toBe(isTold);
  });

  it('the log says so when the app starts, and programs on this machine still read them', async () => {
    const told: string[] = [];
    const log = { ...silentLog, info: (words: string) => void told.push(words) };
    await using team = await startTeam({ settings: { PUBLIC_URL: 'https://vps.example.com' }, log });
    expect(told.filter((words) => words.includes('METRICS_TOKEN'))).toHaveLength(1);
    expect((await fetch(`${team.appUrl}/metrics`)).status).toBe(200);
  });
});

describe('over HTTP', () => {
  async function startServer(metricsToken?: Secret<string>): Promise<number> {
    const parts = {
      system: realSystem,
      metrics: createMetrics(),
      metricsToken,
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
    return listen(server, 0, '127.0.0.1');
  }

  /** `fetch` can't set these headers. */
  function get(port: number, options: RequestOptions) {
    return new Promise<{
      status: number | undefined;
      type: string | undefined;
      challenge: string | undefined;
      body: string;
    }>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path: '/metrics', ...options }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          body += part;
        });
        response.on('end', () => {
          const { 'content-type': type, 'www-authenticate': challenge } = response.headers;
          resolve({ status: response.statusCode, type, challenge, body });
        });
      });
      sent.on('error', reject).end();
    });
  }

  it('a request that a proxy passes on hears nothing but how to get at the numbers', async () => {
    const port = await startServer();
    expect(await get(port, {})).toMatchObject({
      status: 200,
      body: expect.stringContaining('vps_operations_open'),
    });
    const refused = await get(port, { headers: { 'x-forwarded-for': '203.0.113.9' } });
    expect(refused.status).toBe(403);
    expect(refused.body).toBe(
      '/metrics is only shown on this machine. To read it from elsewhere, set METRICS_TOKEN.\n',
    );
  });

  it('the token is asked for by the standard’s header, with HEAD as well', async () => {
    const port = await startServer(TOKEN);
    const authorization = `Bearer ${TOKEN.reveal()}`;
    expect(await get(port, {})).toMatchObject({ status: 401, challenge: 'Bearer' });
    expect(await get(port, { method: 'HEAD' })).toMatchObject({ status: 401 });
    expect(await get(port, { headers: { authorization } })).toMatchObject({
      status: 200,
      type: expect.stringContaining('text/plain; version=0.0.4'),
    });
    for (const path of ['/livez', '/readyz'])
      expect(await get(port, { path })).toMatchObject({ status: 200, body: 'ok\n' });
  });

  it('neither the address nor the query takes the place of the header', async () => {
    const port = await startServer(TOKEN);
    for (const path of [
      `/metrics?token=${TOKEN.reveal()}`,
      `/metrics?authorization=Bearer%20${TOKEN.reveal()}`,
    ])
      expect(await get(port, { path })).toMatchObject({ status: 401 });
  });
});
