import { describe, expect, it, vi } from 'vitest';
import { HostingError, Refusal } from '../../src/core/errors.ts';
import { Secret } from '../../src/core/secret.ts';
import { type CallReport, retry } from '../../src/hosting/client.ts';
import { RateLimitedError } from '../../src/hosting/refusals.ts';
import { createTransport, type Transport } from '../../src/hosting/send.ts';
import { FAULT_EFFECTS, type FaultKind } from '../../src/sandbox/hosting/faults.ts';
import { realSystem, type System } from '../../src/system.ts';
import {
  failureOf,
  heldSystem,
  holdTime,
  jumpingSystem,
  ORDER,
  PAY,
  startClient,
  startServer,
  startService,
} from './support.ts';

/** Clients over a service that answers like this, with a clock that is moved by hand. */
function startHeld(send: (system: System) => Transport['send']) {
  const { system, pass } = holdTime();
  const transport: Transport = { send: send(system), close: async () => {} };
  return { ...startClient('http://x/v1', { system, transport }), pass };
}

describe('clients of one account', () => {
  it('share a limiter and reads if their API key is the same, in any workspace, and nothing otherwise', async () => {
    const server = await startServer((_, response) => response.end('[]'));
    const { hosting } = startClient(server.baseUrl);
    const [one, same, other] = [
      hosting.of(new Secret('k'), 'T1'),
      hosting.of(new Secret('k'), 'T2'),
      hosting.of(new Secret('o'), 'T1'),
    ];
    await Promise.all([one.fetchServers(), same.fetchServers(), other.fetchServers()]);
    expect(server.arrivals).toHaveLength(2);
    expect(same.budget().taken).toBe(1);
    expect(one.account).toEqual(same.account);
    expect(one.account).not.toEqual(other.account);
  });

  it('are not refused because another API key of their workspace was idle', async () => {
    const { hosting, pass } = startHeld(() => async () => ({
      status: 200,
      text: '{"id":7,"state":"running"}',
    }));
    const [old, fresh] = [hosting.of(new Secret('old'), 'T1'), hosting.of(new Secret('new'), 'T1')];
    for (let minute = 0; minute < 20; minute++) {
      const calls = [fresh, ...(minute === 0 || minute === 19 ? [old] : [])].map((api) =>
        api.changePower('start', 7),
      );
      await pass(60_000);
      await Promise.all(calls);
    }
  });
});

describe('a paid call', () => {
  it('runs the caller’s checks again before every try', async () => {
    const server = await startServer((_, response) => {
      if (server.arrivals.length === 1)
        response.writeHead(429, { 'retry-after': '0' }).end('{"code":"rate_limited"}');
      else response.writeHead(201).end('{"id":7,"root_password":"x"}');
    });
    const { api } = startClient(server.baseUrl);
    const beforeSend = vi.fn(async () =>
      expect(server.arrivals).toHaveLength(beforeSend.mock.calls.length - 1),
    );
    expect(await api.createServer(ORDER, { beforeSend })).toMatchObject({ id: 7, state: '' });
    expect(beforeSend).toHaveBeenCalledTimes(2);
    expect(server.arrivals).toHaveLength(2);
  });

  it.each([
    'elapsed',
    'now',
  ] as const)('isn’t sent if its process froze after the commit, by the clock %s; it is committed again and sent once', async (clock) => {
    let stoodStillMs = 0;
    const system: System = {
      ...realSystem,
      random: () => 0,
      [clock]: () => realSystem[clock]() + stoodStillMs,
    };
    const server = await startServer((_, response) => response.end('{"id":7,"root_password":"x"}'));
    const { send, close } = createTransport({ baseUrl: server.baseUrl, timeoutMs: 30_000, system });
    const transport: Transport = {
      close,
      send: (...given) => {
        const answer = send(...given);
        // While the first connection is being opened.
        if (commits.length === 1) stoodStillMs = 15_001;
        return answer;
      },
    };
    const { api } = startClient(server.baseUrl, { system, transport });
    const commits: number[] = [];
    const beforeSend = async () => void commits.push(server.arrivals.length);
    expect(await api.createServer(ORDER, { beforeSend })).toMatchObject({ id: 7 });
    expect(commits).toEqual([0, 0]);
    expect(server.arrivals.map(({ method }) => method)).toEqual(['POST']);
  });
});

it('no request, a read neither, leaves with a slot that is 15 s old, which others may soon have', async () => {
  const sent: string[] = [];
  const { api, pass } = startHeld((system) => async ({ method }, _key, isTooLate) => {
    // It waits for a connection, and meanwhile the process stands still.
    await system.sleep(15_001);
    if (!isTooLate?.()) sent.push(method);
    return { status: 200, text: '[]' };
  });
  const calls = [api.fetchServers(), api.fetchCatalog(), api.changePower('start', 7)];
  await Promise.all([Promise.allSettled(calls), pass(16_000)]);
  expect(sent).toEqual([]);
});

it('every request that was sent is reported to listeners, without secrets', async () => {
  const server = await startServer((_, response) => {
    if (server.arrivals.length === 1) response.writeHead(201).end('{"id":7,"root_password":"pa55word"}');
    else response.writeHead(404).end('{"code":"not_found"}');
  });
  const reports: CallReport[] = [];
  const { api } = startClient(server.baseUrl, { onCall: (report) => reports.push(report) });
  await api.createServer(ORDER, PAY);
  await failureOf(api.deleteServer(7, PAY));
  const times = { durationMs: expect.any(Number), waitedMs: expect.any(Number) };
  expect(reports).toEqual([
    { operation: 'create_server', status: 201, ...times },
    { operation: 'delete_server', status: 404, code: 'not_found', ...times },
  ]);
  expect(JSON.stringify(reports)).not.toMatch(/pa55word|key-of/);
});

it('an answer is returned even if a listener for metrics or waiting throws', async () => {
  const server = await startServer((_, response) =>
    response.writeHead(201).end('{"id":7,"root_password":"pa55word"}'),
  );
  const onCall = () => {
    throw new Error('metrics');
  };
  const { api } = startClient(server.baseUrl, { onCall });
  expect((await api.createServer(ORDER, PAY)).rootPassword?.reveal()).toBe('pa55word');
});

it('a client that closes waits for a paid call in flight, and refuses the next one', async () => {
  const held: (() => void)[] = [];
  const server = await startServer((_, response) =>
    held.push(() => response.end('{"id":7,"root_password":"x"}')),
  );
  const { hosting, api } = startClient(server.baseUrl);
  const paid = api.createServer(ORDER, PAY);
  await expect.poll(() => held.length).toBe(1);
  const closed = hosting.close();
  await expect(api.createServer(ORDER, PAY)).rejects.toEqual(new Refusal('shutting_down', {}));
  await expect(hosting.of(new Secret('another')).fetchServers()).rejects.toEqual(
    new Refusal('shutting_down', {}),
  );
  held[0]?.();
  expect(await paid).toMatchObject({ id: 7 });
  await closed;
  expect(server.arrivals).toHaveLength(1);
});

it.each(
  Object.keys(FAULT_EFFECTS) as FaultKind[],
)('a paid call is sent once, and never reported as “no money moved” when it did: %s', async (kind) => {
  // Only an answer that never comes is waited for: a wait before another try would pass here, and the try be counted.
  const held = kind === 'hang' || kind === 'hang_before' ? heldSystem() : undefined;
  const { service, account, api } = await startService({}, held);
  service.faults.add({
    on: 'create',
    kind,
    delayMs: 20,
    ...(kind === 'error' ? { code: 'limit' as const } : {}),
  });
  const order = { plan: 'small', location: 'fra', image: 'debian-13', label: 'web-1' };
  const outcome = api.createServer(order, PAY).catch((error: unknown) => error);
  if (held) {
    await expect.poll(() => service.requests({ operation: 'create' }).length).toBe(1);
    held.endSleeps();
  }
  const failure = await outcome;
  const paid = service.charges(account).length - service.refunds(account).length;
  if (failure instanceof HostingError && failure.moneyMoved === 'no') expect(paid).toBe(0);
  if (!(failure instanceof Error)) expect(paid).toBe(1);
  expect(service.requests({ operation: 'create' })).toHaveLength(1);
});

const limited = (retryAfter?: string) => new RateLimitedError({}, retryAfter);
const notSent = new HostingError('not_sent', 'no');

/** Fails with these, one after the other, and then answers. */
function failing(...failures: Error[]) {
  const left = [...failures];
  return vi.fn(async () => {
    const failure = left.shift();
    if (failure) throw failure;
    return 'done';
  });
}

function always(failure: Error) {
  return vi.fn(async (): Promise<string> => {
    throw failure;
  });
}

function run(send: () => Promise<string>, system: System, closing = new AbortController().signal) {
  const pause = vi.fn();
  const onWait = vi.fn();
  const outcome = retry(send, onWait, { system, pause, closing }).catch((error: unknown) => error);
  return { outcome, pause, onWait };
}

describe('a failed call', () => {
  it.each([
    new HostingError('no_answer', 'maybe'),
    new HostingError('checking', 'maybe'),
    new HostingError('not_created', 'no'),
    new HostingError('unreadable_answer', 'maybe', { status: 503 }),
    new HostingError('unknown_code', 'maybe'),
    new HostingError('not_enough_balance', 'no'),
    new HostingError('rate_limited', 'maybe'),
    new Refusal('waited_too_long', {}),
    new Error('defect'),
  ])('is not tried again after %s (%#)', async (failure) => {
    const send = always(failure);
    const system = jumpingSystem();
    expect(await run(send, system).outcome).toBe(failure);
    expect(send).toHaveBeenCalledOnce();
    expect(system.slept).toEqual([]);
  });

  it('is tried again after not_sent and rate_limited, which prove that nothing was done', async () => {
    const send = failing(notSent, limited(), notSent);
    expect(await run(send, jumpingSystem()).outcome).toBe('done');
    expect(send).toHaveBeenCalledTimes(4);
  });
});

it('a call that was not sent is tried four times within five seconds, and holds back no other call', async () => {
  for (const random of [0, 0.5, 0.999]) {
    const system = jumpingSystem(random);
    const send = always(notSent);
    const { outcome, pause } = run(send, system);
    expect(await outcome).toBe(notSent);
    expect(send).toHaveBeenCalledTimes(4);
    expect(system.elapsed()).toBeLessThanOrEqual(5_001);
    expect(pause).not.toHaveBeenCalled();
  }
});

describe('a call that was rate limited', () => {
  it('is given up after at least 60 s and at most 75 s', async () => {
    for (const random of [0, 0.5, 0.999]) {
      const system = jumpingSystem(random);
      const send = always(limited());
      expect(await run(send, system).outcome).toMatchObject({ code: 'rate_limited' });
      expect(send).toHaveBeenCalledTimes(6);
      expect(system.elapsed()).toBeGreaterThanOrEqual(60_000);
      expect(system.elapsed()).toBeLessThanOrEqual(75_000);
    }
  });

  it('holds back the whole account while it waits, and notifies the user if that takes long', async () => {
    const { outcome, pause, onWait } = run(failing(limited(), limited('30')), jumpingSystem(0));
    await outcome;
    expect(pause.mock.calls).toEqual([[0], [30_000]]);
    expect(onWait).toHaveBeenCalledOnce();
  });

  it.each([
    ['7', 7_000],
    ['0', 0],
    ['3600', 60_000],
    [new Date(1_700_000_020_000).toUTCString(), 20_000],
    [new Date(1_600_000_000_000).toUTCString(), 0],
    ['soon', 1_000],
  ])('retries when the service says: Retry-After %s is %d ms', async (written, ms) => {
    const system = jumpingSystem(written === 'soon' ? 0.5 : 0);
    await run(failing(limited(written)), system).outcome;
    expect(system.slept.reduce((sum, slept) => sum + slept, 0)).toBe(ms);
  });

  it('is given up when the service asks for more than 75 s in all', async () => {
    const system = jumpingSystem(0);
    expect(await run(always(limited('60')), system).outcome).toMatchObject({ code: 'rate_limited' });
    expect(system.slept).toEqual([60_000]);
  });
});

it('stops waiting with a refusal when the process shuts down', async () => {
  const closing = new AbortController();
  const send = vi.fn(async () => {
    closing.abort();
    throw notSent;
  });
  const { outcome } = run(send, jumpingSystem(), closing.signal);
  expect(await outcome).toEqual(new Refusal('shutting_down', {}));
  expect(send).toHaveBeenCalledOnce();
});
