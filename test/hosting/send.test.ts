import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Dispatcher, Pool } from 'undici';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { createServer as createOrder, listPage } from '../../src/hosting/endpoints.ts';
import { decode } from '../../src/hosting/read-catalog.ts';
import { createTransport } from '../../src/hosting/send.ts';
import { realSystem, type System } from '../../src/system.ts';
import { failureOf, heldSystem, KEY, ORDER, settle, startServer } from './support.ts';

const listServers = listPage('/servers');

const create = createOrder(ORDER);

function open(baseUrl: string, system: System = realSystem) {
  const transport = createTransport({ baseUrl, timeoutMs: 30_000, system });
  onTestFinished(() => transport.close());
  return transport;
}

/** A connection on which exactly this happens. */
class Scripted extends Dispatcher {
  readonly abort = vi.fn();
  readonly #script: (handler: Dispatcher.DispatchHandler, controller: Dispatcher.DispatchController) => void;

  constructor(
    script: (handler: Dispatcher.DispatchHandler, controller: Dispatcher.DispatchController) => void,
  ) {
    super();
    this.#script = script;
  }

  override dispatch(_: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const { abort } = this;
    const state = { aborted: false, paused: false, reason: null };
    this.#script(handler, { ...state, abort, pause: () => {}, resume: () => {} });
    return true;
  }
}

/** Answers each request, and keeps what came over each connection. */
async function startRecorder(answer: (socket: Socket) => void) {
  const received: string[] = [];
  const server = createServer((socket) => {
    const index = received.push('') - 1;
    socket.on('data', (bytes) => {
      received[index] += String(bytes);
      answer(socket);
    });
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { received, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const failing = (code: string) => Object.assign(new Error(code), { code });

const sendOver = (dispatcher: Dispatcher, isTooLate?: () => boolean) =>
  createTransport({ baseUrl: 'http://x/v1', timeoutMs: 30_000, system: realSystem, dispatcher }).send(
    create,
    KEY,
    isTooLate,
  );

describe('a request', () => {
  it('carries the key, the order and nothing else', async () => {
    const server = await startServer((_, response) => response.writeHead(201).end('{"id":1}'));
    const answer = await open(`${server.baseUrl}/`).send(
      createOrder({ ...ORDER, extra: 'no' } as typeof ORDER),
      KEY,
    );
    expect(answer).toEqual({ status: 201, text: '{"id":1}', paging: {} });
    const [arrival] = server.arrivals;
    expect(arrival).toMatchObject({ method: 'POST', url: '/v1/servers', body: JSON.stringify(ORDER) });
    expect(arrival?.headers).toMatchObject({
      authorization: 'Bearer key-of-the-account',
      'content-type': 'application/json',
    });
  });

  it('does not follow a redirect, which would leak the key', async () => {
    const server = await startServer((_, response) =>
      response.writeHead(302, { location: '/elsewhere' }).end(),
    );
    expect(await open(server.baseUrl).send(listServers, KEY)).toMatchObject({ status: 302 });
    expect(server.arrivals).toHaveLength(1);
  });

  it('opens no more than 32 connections', async () => {
    const server = await startServer((_, response) => setImmediate(() => response.end('[]')));
    const transport = open(server.baseUrl);
    await Promise.all(Array.from({ length: 200 }, () => transport.send(listServers, KEY)));
    expect(server.arrivals).toHaveLength(200);
    expect(server.connections).toBeLessThanOrEqual(32);
  });

  it('is refused as unauthorized if the key doesn’t fit into a header, and no error contains the key', async () => {
    const server = await startServer((_, response) => response.end('[]'));
    const failure = await failureOf(open(server.baseUrl).send(listServers, new Secret('kéy\nsecret')));
    expect(failure).toMatchObject({ code: 'unauthorized', moneyMoved: 'no' });
    expect(JSON.stringify(failure) + failure.stack).not.toContain('secret');
    expect(server.arrivals).toHaveLength(0);
  });
});

describe('a paid request that was cut off', () => {
  it('arrives once if a keep-alive connection is cut while it is sent', async () => {
    const server = await startServer((request, response) => {
      if (server.arrivals.length === 1) response.end('[]');
      else request.socket.resetAndDestroy();
    });
    const transport = open(server.baseUrl);
    await transport.send(listServers, KEY);
    await settle();
    const failure = await failureOf(transport.send(create, KEY));
    expect(failure).toMatchObject({ code: 'no_answer', moneyMoved: 'maybe' });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(server.arrivals.map((arrival) => arrival.method)).toEqual(['GET', 'POST']);
    expect(server.connections).toBe(1);
  });

  it('arrives at most once if an idle connection is closed at about the same time', async () => {
    const server = await startServer((_, response) => response.end('{"id":1}'));
    const transport = open(server.baseUrl);
    for (let round = 0; round < 60; round++) {
      await transport.send(listServers, KEY).catch(() => {});
      await settle();
      const before = server.arrivals.length;
      const close = () => [...server.sockets].map((socket) => socket.destroy());
      if (round % 3 === 0) close();
      if (round % 3 === 1) setImmediate(close);
      const outcome = await transport.send(create, KEY).catch((error) => error.moneyMoved);
      if (round % 3 === 2) close();
      const arrived = server.arrivals.length - before;
      expect(arrived).toBeLessThanOrEqual(1);
      if (outcome === 'no') expect(arrived).toBe(0);
    }
  });

  it('is unconfirmed if the answer breaks off in the middle', async () => {
    const server = await startServer((request, response) => {
      response.writeHead(201, { 'content-length': '100' });
      response.write('{"id":7,', () => request.socket.destroy());
    });
    const failure = await failureOf(open(server.baseUrl).send(create, KEY));
    expect(failure).toMatchObject({ code: 'no_answer', moneyMoved: 'maybe', details: { status: 201 } });
    // What came until then may hold the root password.
    expect(failure.sealedAnswer?.reveal()).toBe('{"id":7,');
  });

  it('is unconfirmed if the other side doesn’t speak HTTP', async () => {
    const { baseUrl } = await startRecorder((socket) => socket.end('220 smtp ready\r\n'));
    const failure = await failureOf(open(baseUrl).send(create, KEY));
    expect(failure).toMatchObject({ code: 'no_answer', moneyMoved: 'maybe' });
  });
});

describe('a request that is too late right before its first byte', () => {
  const EMPTY = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]';

  it('isn’t sent over a new connection, and is reported as not sent', async () => {
    const { received, baseUrl } = await startRecorder((socket) => socket.write(EMPTY));
    const transport = open(baseUrl);
    const failure = await failureOf(transport.send(create, KEY, () => true));
    expect(failure).toMatchObject({ code: 'not_sent', moneyMoved: 'no', details: { cause: 'late' } });
    await transport.send(listServers, KEY, () => false);
    expect(received.join('')).not.toContain('POST');
  });

  it('isn’t sent over a reused connection, and is reported as not sent', async () => {
    const held: Socket[] = [];
    const { received, baseUrl } = await startRecorder((socket) => held.push(socket));
    const dispatcher = new Pool(baseUrl, { connections: 1, pipelining: 1 });
    const transport = createTransport({ baseUrl, timeoutMs: 30_000, system: realSystem, dispatcher });
    onTestFinished(() => dispatcher.destroy());
    const read = transport.send(listServers, KEY);
    await expect.poll(() => held.length).toBe(1);
    let isTooLate = false;
    const paid = failureOf(transport.send(create, KEY, () => isTooLate));
    const after = transport.send(listServers, KEY);
    await settle();
    isTooLate = true;
    held[0]?.write(EMPTY);
    expect(await read).toMatchObject({ status: 200 });
    expect(await paid).toMatchObject({ code: 'not_sent', moneyMoved: 'no', details: { cause: 'late' } });
    await expect.poll(() => held.length).toBe(2);
    held[1]?.write(EMPTY);
    expect(await after).toMatchObject({ status: 200 });
    expect(received.map((bytes) => bytes.match(/GET|POST/g))).toEqual([['GET'], ['GET']]);
  });

  it('is unconfirmed if undici had already begun to write it, and isn’t written a second time', async () => {
    let isTooLate = false;
    const connection = new Scripted((handler, controller) => {
      handler.onRequestStart?.(controller, {});
      isTooLate = true;
      handler.onRequestStart?.(controller, {});
      expect(connection.abort).toHaveBeenCalledOnce();
      handler.onResponseError?.(controller, failing('UND_ERR_SOCKET'));
    });
    const failure = await failureOf(sendOver(connection, () => isTooLate));
    expect(failure).toMatchObject({ code: 'no_answer', moneyMoved: 'maybe' });
  });
});

describe('the timeout of a request', () => {
  it('does not discard an answer that arrived while the process was suspended', async () => {
    const server = await startServer((_, response) => {
      response.writeHead(201).end('{"id":7,"root_password":"x"}');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700);
    });
    const transport = createTransport({ baseUrl: server.baseUrl, timeoutMs: 500, system: realSystem });
    onTestFinished(() => transport.close());
    expect(await transport.send(create, KEY)).toMatchObject({
      status: 201,
      text: '{"id":7,"root_password":"x"}',
    });
  });

  it('ends a request that gets no answer, and its connection', async () => {
    const system = heldSystem();
    const server = await startServer(() => system.endSleeps());
    const failure = await failureOf(open(server.baseUrl, system).send(create, KEY));
    expect(failure).toMatchObject({ code: 'no_answer', moneyMoved: 'maybe', details: { cause: 'timeout' } });
    await server.arrivals[0]?.cut;
    await settle();
    expect(server.arrivals).toHaveLength(1);
  });

  it('ends an answer whose body never stops trickling in', async () => {
    const system = heldSystem();
    const server = await startServer((_, response) => {
      response.writeHead(200);
      response.write('[', () => setImmediate(() => system.endSleeps()));
    });
    const failure = await failureOf(open(server.baseUrl, system).send(listServers, KEY));
    expect(failure).toMatchObject({ code: 'no_answer', moneyMoved: 'no' });
    await server.arrivals[0]?.cut;
  });

  it('reports a paid request as not sent if it ran out while waiting for a connection', async () => {
    const system = heldSystem();
    const held: (() => void)[] = [];
    const server = await startServer((_, response) => {
      if (held.length < 32) held.push(() => response.end('[]'));
      else response.end('[]');
    });
    const transport = open(server.baseUrl, system);
    const others = Array.from({ length: 32 }, () => transport.send(listServers, KEY));
    await expect.poll(() => held.length).toBe(32);
    const paid = failureOf(transport.send(create, KEY));
    const outcomes = Promise.allSettled(others);
    system.endSleeps();
    expect(await paid).toMatchObject({ code: 'not_sent', moneyMoved: 'no' });
    await outcomes;
    await transport.send(listServers, KEY);
    expect(server.arrivals.filter((arrival) => arrival.method === 'POST')).toEqual([]);
  });
});

describe('an answer', () => {
  it('is read up to 8 MB and no further', async () => {
    const server = await startServer((request, response) => {
      response.writeHead(200);
      const more = () => {
        while (!request.socket.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    });
    const failure = await failureOf(open(server.baseUrl).send(create, KEY));
    expect(failure).toMatchObject({
      code: 'unreadable_answer',
      moneyMoved: 'maybe',
      details: { status: 200 },
    });
    await server.arrivals[0]?.cut;
  });

  it('is complete if it comes in many pieces, even with characters split in half', async () => {
    const text = JSON.stringify([{ label: 'größe-€-𝄞'.repeat(200) }]);
    const bytes = Buffer.from(text);
    const server = await startServer((_, response) => {
      for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7));
      response.end();
    });
    expect((await open(server.baseUrl).send(listServers, KEY)).text).toBe(text);
  });
});

it('an answer that is not UTF-8 is passed on with every byte, since it may contain a password', async () => {
  const server = await startServer((_, response) =>
    response.end(Buffer.from('{"id":7,"root_password":"ü€"}', 'latin1')),
  );
  const answer = await open(server.baseUrl).send(create, KEY);
  expect(answer.text).toContain('\uFFFD');
  const failure = await failureOf(Promise.resolve().then(() => decode(create, answer)));
  expect(failure).toMatchObject({ code: 'unreadable_answer', moneyMoved: 'maybe' });
  expect(failure.sealedAnswer?.reveal()).toContain('"ü');
});

const OTHERS = { 'x-secret': 'no', 'x-ratelimit-total': '300', 'retry-after-count': '1', 'x-csrf-page': 'x' };

it('passes on the headers that may announce pages, and no others', async () => {
  const server = await startServer((_, response) =>
    response.writeHead(200, { link: '<a>; rel="next"', 'x-total-count': '5', ...OTHERS }).end('[]'),
  );
  const { paging } = await open(server.baseUrl).send(listServers, KEY);
  expect(paging).toEqual({ link: '<a>; rel="next"', 'x-total-count': '5' });
});

describe('a request that undici reports as failed', () => {
  // The first ones can also follow a write, even if undici reported none; the others can't, unless undici has begun to write.
  it.each([
    ['ECONNRESET', false],
    ['EPIPE', false],
    ['ETIMEDOUT', false],
    ['UND_ERR_SOCKET', false],
    ['UND_ERR_INFO', false],
    ['EPROTO', true],
    ['UND_ERR_DESTROYED', true],
    ['UND_ERR_CONNECT_TIMEOUT', true],
  ])('is unconfirmed after %s (begun to write: %s)', async (code, hasBegun) => {
    const connection = new Scripted((handler, controller) => {
      if (hasBegun) handler.onRequestStart?.(controller, {});
      handler.onResponseError?.(controller, failing(code));
    });
    expect(await failureOf(sendOver(connection))).toMatchObject({
      code: 'no_answer',
      moneyMoved: 'maybe',
      details: { cause: code },
    });
  });
});

describe('failures before the first byte', () => {
  it('prove that nothing was sent when nothing listens on the port', async () => {
    const server = await startServer(() => {});
    await server.close();
    for (const baseUrl of [server.baseUrl, server.baseUrl.replace('127.0.0.1', 'localhost')]) {
      expect(await failureOf(open(baseUrl).send(create, KEY))).toMatchObject({
        code: 'not_sent',
        moneyMoved: 'no',
        details: { cause: 'ECONNREFUSED' },
      });
    }
  });

  it('prove that nothing was sent when the host name doesn’t exist', async () => {
    const failure = await failureOf(open('http://no-such-host.invalid/v1').send(create, KEY));
    expect(failure).toMatchObject({ code: 'not_sent', moneyMoved: 'no' });
  });

  it('prove that nothing was sent when the other side doesn’t speak TLS', async () => {
    const server = await startServer((_, response) => response.end());
    const failure = await failureOf(open(server.baseUrl.replace('http:', 'https:')).send(create, KEY));
    expect(failure).toMatchObject({ code: 'not_sent', moneyMoved: 'no' });
    expect(server.arrivals).toEqual([]);
  });

  it('a transport sends nothing once it is closed', async () => {
    const server = await startServer((_, response) => response.end('[]'));
    const transport = createTransport({ baseUrl: server.baseUrl, timeoutMs: 30_000, system: realSystem });
    await transport.close();
    expect(await failureOf(transport.send(create, KEY))).toMatchObject({
      code: 'not_sent',
      moneyMoved: 'no',
    });
  });
});
