import { connect } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import type { JournalEvent } from '../../../src/sandbox/hosting/journal.ts';
import { until } from '../../support/eventually.ts';
import { field, startCaller } from './caller.ts';

describe('the journal', () => {
  test('knows of every request who sent it, what it was and how it ended', async () => {
    const { call, create, hosting, account } = await startCaller();
    await create();
    await call('POST', '/servers/1/stop');
    await call('GET', '/servers', undefined, 'Bearer wrong');
    expect(hosting.requests()).toMatchObject([
      {
        method: 'POST',
        path: '/v1/servers',
        operation: 'create',
        accountId: account.id,
        ending: 'answered',
        status: 200,
        code: undefined,
        didWork: true,
        atMs: hosting.clock.now(),
        durationMs: expect.any(Number),
      },
      { operation: 'stop', accountId: account.id, status: 404, code: 'not_found', didWork: false },
      { operation: 'servers', accountId: undefined, status: 401, code: 'unauthorized', didWork: false },
    ]);
    expect(hosting.requests({ code: 'not_found' })).toHaveLength(1);
    expect(hosting.requests({ operation: 'create', didWork: false })).toEqual([]);
  });

  test('never holds an API key or a root password', async () => {
    const { create, hosting, key } = await startCaller();
    const events: JournalEvent[] = [];
    hosting.onEvent((event) => events.push(event));
    const password = String(field(await create(), 'root_password'));
    const written = JSON.stringify([events, hosting.requests(), hosting.charges(), hosting.topUps()]);
    expect(events.map((event) => event.kind)).toEqual(['arrived', 'money', 'ended']);
    expect(written).not.toContain(key);
    expect(written).not.toContain(JSON.stringify(password).slice(1, -1));
  });

  test('tells listeners until they stop listening, and outlives one that throws', async () => {
    const { call, hosting } = await startCaller();
    const complaint = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const seen: string[] = [];
    hosting.onEvent(() => {
      throw new Error('broken page');
    });
    const stop = hosting.onEvent((event) => seen.push(event.kind));
    expect((await call('GET', '/catalog')).status).toBe(200);
    stop();
    await call('GET', '/catalog');
    expect(seen).toEqual(['arrived', 'ended']);
    expect(complaint).toHaveBeenCalled();
    complaint.mockRestore();
  });

  test('forgets the oldest when it is full', async () => {
    const { call, hosting, account } = await startCaller({ journalCapacity: 2 });
    for (const path of ['/catalog', '/servers', '/none']) await call('GET', path);
    expect(hosting.requests().map((request) => request.path)).toEqual(['/v1/servers', '/v1/none']);
    for (let n = 1; n <= 3; n += 1) hosting.accounts.topUp(account, n);
    expect(hosting.topUps(account).map((entry) => entry.amountMinor)).toEqual([2, 3]);
  });

  test('counts an order that broke off half-sent as cut, and carries nothing out', async () => {
    const { hosting, key, account } = await startCaller();
    const socket = connect(hosting.port, '127.0.0.1');
    socket.write(
      `POST /v1/servers HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Length: 100\r\n\r\n{"plan"`,
    );
    await until(() => hosting.requests().length > 0);
    socket.destroy();
    await until(() => hosting.requests({ ending: 'cut' }).length > 0);
    expect(hosting.requests()).toMatchObject([{ operation: 'create', didWork: false }]);
    expect(hosting.charges(account)).toEqual([]);
  });

  test('counts a request whose caller hung up as cut', async () => {
    const { hosting, key } = await startCaller();
    hosting.faults.add({ on: 'servers', kind: 'slow', delayMs: 30_000 });
    const headers = { authorization: `Bearer ${key}` };
    const caller = new AbortController();
    const answer = fetch(`${hosting.baseUrl}/servers`, { headers, signal: caller.signal });
    await Promise.all([
      expect(answer).rejects.toThrow(),
      until(() => hosting.requests({ didWork: true }).length > 0).then(() => caller.abort()),
    ]);
    await until(() => hosting.requests({ ending: 'cut' }).length > 0);
    expect(hosting.requests()).toMatchObject([{ didWork: true, status: undefined }]);
  });
});
