import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { isDeleted } from '../../src/core/server.ts';
import { type AnswerStyleChange, DIALECT } from '../../src/sandbox/hosting/answers.ts';
import type { HostingOptions as ServiceOptions } from '../../src/sandbox/hosting/hosting.ts';
import { startHosting } from '../../src/sandbox/hosting/start.ts';
import { failureOf, PAY, startClient, startServer } from './support.ts';

const ORDER = { plan: 'small', location: 'fra', image: 'debian-13', label: 'web-1' };

/** The client in front of the whole service, which speaks one dialect. */
async function speaking(answers: AnswerStyleChange, options: ServiceOptions = {}) {
  const service = await startHosting({ answers, ...options });
  onTestFinished(() => service.close());
  const account = service.accounts.create({ name: 'team', balanceMinor: 100_00 });
  const warn = vi.fn();
  const { hosting } = startClient(service.baseUrl, { log: { warn } });
  return { service, account, warn, api: hosting.of(new Secret(service.createKey(account))) };
}

describe('a list of servers', () => {
  it.each(
    DIALECT.paging,
  )('of several pages is read completely, or marked as incomplete: %s', async (paging) => {
    const { service, account, api } = await speaking({ paging, pageSize: 10 });
    service.seedServers(account, 25);
    const list = await api.fetchServers();
    const isClear = paging === 'none' || paging === 'next' || paging === 'link';
    expect(list).toMatchObject({ extent: isClear ? 'whole' : 'part', unreadableCount: 0 });
    expect(list.servers).toHaveLength(isClear ? 25 : 10);
    // Each page takes its own slot.
    expect(api.budget().taken).toBe(service.requests({ operation: 'servers' }).length);
  });

  it.each(DIALECT.paging)('that fits on one page is complete: %s', async (paging) => {
    const { service, account, api } = await speaking({ paging, pageSize: 10 });
    service.seedServers(account, 7);
    const { servers, extent } = await api.fetchServers();
    expect([servers.length, extent]).toEqual([7, 'whole']);
  });

  it('ends after a hundred pages, and says that it is incomplete', async () => {
    const { service, account, api } = await speaking({ paging: 'next', pageSize: 1 });
    service.seedServers(account, 120);
    const { servers, extent } = await api.fetchServers();
    expect([servers.length, extent]).toEqual([100, 'part']);
    expect(service.requests({ operation: 'servers' })).toHaveLength(100);
  });

  it('never sends the key to another host', async () => {
    const elsewhere = await startServer((_, response) => response.end('[]'));
    const server = await startServer((_, response) =>
      response.end(JSON.stringify({ servers: [], next: `${elsewhere.baseUrl}/servers?page=2` })),
    );
    const { api } = startClient(server.baseUrl);
    expect(await api.fetchServers()).toEqual({ servers: [], extent: 'part', unreadableCount: 0 });
    expect([server.arrivals.length, elsewhere.arrivals.length]).toEqual([1, 0]);
  });

  it.each([
    'no',
    'yes',
  ] as const)('shows a deleted server that is still listed as deleted (%s)', async (listsDeleted) => {
    const { api } = await speaking({ listsDeleted });
    const { id } = await api.createServer(ORDER, PAY);
    await api.deleteServer(id, PAY);
    expect((await api.fetchServers()).servers.map(isDeleted)).toEqual(listsDeleted === 'yes' ? [true] : []);
    for (const state of ['DELETED', ' deleted\n', 'Deleted']) expect(isDeleted({ state })).toBe(true);
    for (const state of ['deleting', '', 'undeleted']) expect(isDeleted({ state })).toBe(false);
  });
});

describe('an error inside 2xx', () => {
  it.each([
    'error_beside',
    'error_in_2xx',
  ] as const)('is no proof of whether a create was paid: %s', async (kind) => {
    const { service, account, api } = await speaking({});
    const [id = 0] = service.seedServers(account, 1);
    service.faults.add({ on: 'any', kind, code: 'limit', times: 'always' });
    for (const paid of [api.createServer(ORDER, PAY), api.renewServer(id, PAY)]) {
      expect(await failureOf(paid)).toMatchObject({
        code: 'unreadable_answer',
        moneyMoved: 'maybe',
        details: { status: 200, problem: 'carries_error', apiCode: 'limit' },
      });
    }
    for (const free of [api.changePower('stop', id), api.deleteServer(id, PAY), api.fetchCatalog()])
      expect(await failureOf(free)).toMatchObject({
        code: 'unreadable_answer',
        details: { status: 200 },
      });
  });
});

describe('a refusal', () => {
  it.each(DIALECT.errorShape)('is understood with its code as %s', async (errorShape) => {
    const { api } = await speaking({ errorShape });
    const refused = await failureOf(api.createServer({ ...ORDER, plan: 'none' }, PAY));
    expect(refused).toMatchObject({ code: 'bad_request', moneyMoved: 'no' });
  });

  it('is logged with its status, and never with the answer', async () => {
    const server = await startServer((_, response) =>
      response.writeHead(409).end('{"code":"quota_exceeded","message":"the secret is pa55word"}'),
    );
    const warn = vi.fn();
    const { api } = startClient(server.baseUrl, { log: { warn } });
    await failureOf(api.createServer(ORDER, PAY));
    expect(warn.mock.calls).toEqual([
      [
        { operation: 'create_server', status: 409, code: 'unknown_code', unknownCode: 'quota_exceeded' },
        'a call of the hosting API failed',
      ],
    ]);
  });
});

it('is distinguished from no answer, an unreadable answer and a status 500', async () => {
  const { service, api } = await speaking({});
  const statusUnder = async (kind: 'lost_before' | 'garbage' | 'status_500' | 'html') => {
    service.faults.add({ on: 'create', kind });
    const { code, details } = await failureOf(api.createServer(ORDER, PAY));
    return [code, details.status];
  };
  expect(await statusUnder('lost_before')).toEqual(['no_answer', undefined]);
  expect(await statusUnder('garbage')).toEqual(['unreadable_answer', 200]);
  expect(await statusUnder('status_500')).toEqual(['unreadable_answer', 500]);
  expect(await statusUnder('html')).toEqual(['unreadable_answer', 502]);
});

it.each(DIALECT.deletedState)('a delete is proven only by the state deleted: %s', async (deletedState) => {
  const { service, account, api } = await speaking({ deletedState });
  const [id = 0] = service.seedServers(account, 1);
  expect(await api.deleteServer(id, PAY)).toBe(deletedState.toLowerCase() === 'deleted');
});
