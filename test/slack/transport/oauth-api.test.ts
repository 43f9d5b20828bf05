import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { silentLog } from '../../../src/log.ts';
import { createTokenService } from '../../../src/slack/oauth.ts';
import { createSlackConnections } from '../../../src/slack/slack-api.ts';
import { realSystem } from '../../../src/system.ts';

function open(apiUrl: string) {
  const connections = createSlackConnections({ apiUrl, log: silentLog, system: realSystem });
  onTestFinished(() => connections.close());
  const client = { clientId: '1.2', clientSecret: new Secret('canary-secret') };
  return createTokenService(connections, client, realSystem);
}

const REFRESH_TOKEN = new Secret('canary-refresh');
const refresh = (apiUrl: string) => open(apiUrl).refresh(REFRESH_TOKEN);

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/`;
}

/** A Slack that answers with that JSON. */
const answering = (answer: unknown, status = 200) =>
  serve((_incoming, outgoing) => {
    outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });

describe('a refresh of a token', () => {
  test('has an unknown outcome if the connection ends without an answer', async () => {
    const url = await serve((incoming) => incoming.resume().on('end', () => incoming.socket.destroy()));
    expect(await refresh(url)).toMatchObject({ kind: 'unknown' });
  });

  test('has an unknown outcome if the connection ends before anything is read', async () => {
    const server = createTcpServer((socket) => socket.destroy());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    expect(await refresh(`http://127.0.0.1:${port}/api/`)).toMatchObject({ kind: 'unknown' });
  });

  test.each([
    ['internal_error', 200, 'unknown'],
    ['bad_client_secret', 200, 'unknown'],
    ['ECONNREFUSED', 200, 'unknown'],
    ['invalid_refresh_token', 200, 'refused'],
    ['account_inactive', 200, 'refused'],
    ['invalid_refresh_token', 503, 'unknown'],
  ])('that is answered with %s (%i) is %s', async (error, status, kind) => {
    expect(await refresh(await answering({ ok: false, error }, status))).toMatchObject({ kind });
  });

  test('has an unknown outcome if the answer lacks the tokens', async () => {
    expect(await refresh(await answering({ ok: true }))).toMatchObject({ kind: 'unknown' });
  });

  test('returns the next tokens', async () => {
    const issued = { access_token: 'next', refresh_token: 'next refresh', expires_in: 43_200 };
    expect(await refresh(await answering({ ok: true, ...issued }))).toMatchObject({ kind: 'renewed' });
  });
});

test.each([
  [{ ok: true }, 'works'],
  [{ ok: false, error: 'account_inactive' }, 'revoked'],
  [{ ok: false, error: 'token_revoked' }, 'revoked'],
  [{ ok: false, error: 'token_expired' }, 'unknown'],
  // Also the answer to a request from an address that the app's settings don't allow.
  [{ ok: false, error: 'invalid_auth' }, 'unknown'],
  [{ ok: false, error: 'internal_error' }, 'unknown'],
])('a token of which Slack says %j counts as %s', async (answer, verdict) => {
  expect(await open(await answering(answer)).test(new Secret('canary-token'))).toBe(verdict);
});
