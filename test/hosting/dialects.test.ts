import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { HostingError } from '../../src/domain/errors.ts';
import { Secret } from '../../src/domain/secret.ts';
import { isDeleted } from '../../src/domain/server.ts';
import { type AnswerStyleChange, DIALECT } from '../../src/sandbox/hosting/answer.ts';
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
  const shapes = DIALECT.paging.flatMap((paging) =>
    DIALECT.listShape.map((listShape) => ({ paging, listShape })),
  );

  it.each(shapes)('is complete, or says that it is not: $paging, $listShape', async ({
    paging,
    listShape,
  }) => {
    const { service, account, api } = await speaking({ paging, listShape, pageSize: 10 });
    service.seedServers(account, 25);
    const list = await api.fetchServers();
    const isClear = paging === 'none' || paging === 'next' || paging === 'link';
    expect(list).toMatchObject({ extent: isClear ? 'whole' : 'part', unreadableCount: 0 });
    expect(list.servers).toHaveLength(isClear ? 25 : 10);
    // Each page takes its own slot.
    expect(api.budget().taken).toBe(service.requests({ operation: 'servers' }).length);
  });

  it.each(shapes)('that fits on one page is complete: $paging, $listShape', async ({ paging, listShape }) => {
    const { service, account, api } = await speaking({ paging, listShape, pageSize: 10 });
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

  it.each(DIALECT.dates)('shows only dates that were sent: %s', async (dates) => {
    const { service, account, api } = await speaking({ dates });
    service.seedServers(account, 1);
    const [shown] = (await api.fetchServers()).servers;
    const [server] = service.listServers(account);
    const sent = Math.floor(Date.parse(server?.paid_until ?? '') / 1_000);
    const isSent = dates !== 'absent' && dates !== 'nonsense';
    expect(shown?.paidUntil === undefined ? undefined : Math.floor(shown.paidUntil / 1_000)).toBe(
      isSent ? sent : undefined,
    );
  });

  it('with IDs too large for a number says that it could not read them', async () => {
    const { service, account, api } = await speaking({ ids: 'huge' });
    service.seedServers(account, 2);
    expect(await failureOf(api.fetchServers())).toMatchObject({
      code: 'unreadable_answer',
      details: { status: 200 },
    });
  });

  it.each([
    'no',
    'yes',
  ] as const)('recognizes a deleted server that is still listed (%s)', async (listsDeleted) => {
    const { api } = await speaking({ listsDeleted, states: 'padded' });
    const { id } = await api.createServer(ORDER, PAY);
    await api.deleteServer(id);
    expect((await api.fetchServers()).servers.map(isDeleted)).toEqual(listsDeleted === 'yes' ? [true] : []);
    for (const state of ['DELETED', ' deleted\n', 'Deleted']) expect(isDeleted({ state })).toBe(true);
    for (const state of ['deleting', '', 'undeleted']) expect(isDeleted({ state })).toBe(false);
  });
});

describe('a created server', () => {
  const shapes = DIALECT.recordShape.flatMap((recordShape) =>
    DIALECT.passwordField.map((passwordField) => ({ recordShape, passwordField })),
  );

  it.each(shapes)('has its password, or keeps the answer: $recordShape, $passwordField', async (answers) => {
    const { service, api } = await speaking(answers);
    const made = await api.createServer(ORDER, PAY).catch((error: HostingError) => error);
    const password = service.passwordOf(service.requests({ operation: 'create' })[0]?.serverId ?? 0) ?? '';
    if (answers.passwordField === 'root_password')
      return expect(made).toMatchObject({ rootPassword: new Secret(password) });
    // Only the documented field proves an order (docs/hosting-api.md 4.12).
    expect(made).toMatchObject({ code: 'unreadable_answer', moneyMoved: 'maybe' });
    const kept = made instanceof HostingError ? made.sealedAnswer?.reveal() : '';
    expect(kept).toContain(JSON.stringify(password).slice(1, -1));
  });

  it.each([
    'huge',
    'huge_text',
  ] as const)('with an ID too large for a number is unconfirmed, and its password is kept: %s', async (ids) => {
    const { service, api } = await speaking({ ids });
    const failure = await failureOf(api.createServer(ORDER, PAY));
    expect(failure).toMatchObject({ code: 'unreadable_answer', moneyMoved: 'maybe' });
    const [made] = service.requests({ operation: 'create' });
    const password = service.passwordOf(made?.serverId ?? 0) ?? 'none';
    expect(failure.sealedAnswer?.reveal()).toContain(JSON.stringify(password).slice(1, -1));
    expect(JSON.stringify(failure) + failure.stack + String(failure.sealedAnswer)).not.toContain(password);
  });
});

describe('an error inside 2xx', () => {
  it.each(['error_beside', 'error_in_2xx'] as const)('leaves open whether it was paid: %s', async (kind) => {
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
    for (const free of [api.changePower('stop', id), api.deleteServer(id), api.fetchCatalog()])
      expect(await failureOf(free)).toMatchObject({
        code: 'unreadable_answer',
        details: { status: 200 },
      });
  });
});

describe('a refusal', () => {
  it.each(DIALECT.errorShape)('is understood with its code as %s', async (errorShape) => {
    const { api } = await speaking({ errorShape, echo: 'yes' });
    const refused = await failureOf(api.createServer({ ...ORDER, plan: 'none' }, PAY));
    expect(refused).toMatchObject({ code: 'bad_request', moneyMoved: 'no' });
  });

  it('is not recognized in an answer that only repeats a label', async () => {
    const { api } = await speaking({ errorShape: 'detail', echo: 'yes' });
    const order = { ...ORDER, plan: 'none', label: 'bad_request' };
    expect(await failureOf(api.createServer(order, PAY))).toMatchObject({ moneyMoved: 'maybe' });
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

it('distinguishes no answer, an unreadable answer and a 500', async () => {
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

it.each(DIALECT.dates)('distinguishes a renewal with a date from one without: %s', async (dates) => {
  const { service, account, api } = await speaking({ dates });
  const [id = 0] = service.seedServers(account, 1);
  const renewed = await api.renewServer(id, PAY).catch((error: unknown) => error);
  if (dates === 'absent' || dates === 'nonsense')
    expect(renewed).toMatchObject({ code: 'unreadable_answer', moneyMoved: 'maybe' });
  else expect(renewed).toMatchObject({ paidUntil: expect.any(Number) });
});

it.each(DIALECT.deletedState)('takes only deleted as proof of a delete: %s', async (deletedState) => {
  const { service, account, api } = await speaking({ deletedState });
  const [id = 0] = service.seedServers(account, 1);
  expect(await api.deleteServer(id)).toBe(deletedState.toLowerCase() === 'deleted');
});

it.each(DIALECT.choices)('never drops a location or an image silently: %s', async (choices) => {
  const { api } = await speaking({ choices });
  const catalog = await api.fetchCatalog().catch((error: unknown) => error);
  if (choices === 'names') expect(catalog).toBeInstanceOf(HostingError);
  else expect(catalog).toMatchObject({ locations: ['ams', 'fra', 'hel', 'nyc'] });
});

it.each(DIALECT.prices)('never orders at an ambiguous price: %s', async (prices) => {
  const { service, api } = await speaking({ prices });
  const catalog = await api.fetchCatalog().catch((error: unknown) => error);
  if (catalog instanceof HostingError) return expect(['three_decimals', 'comma']).toContain(prices);
  const { plans, unreadable } = catalog as Awaited<ReturnType<typeof api.fetchCatalog>>;
  for (const plan of plans) expect(plan.monthly).toBe(service.prices.priceMinorOf(plan.code));
  expect(plans.length + (unreadable?.plans ?? 0)).toBe(6);
});
