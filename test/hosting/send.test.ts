import { createServer } from 'node:net';
import { Dispatcher } from 'undici';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Secret } from '../../src/domain/secret.ts';
import { decode } from '../../src/hosting/decode.ts';
import { createServer as createOrder, listServers } from '../../src/hosting/endpoints.ts';
import { createTransport } from '../../src/hosting/send.ts';
import { realSystem, type System } from '../../src/system.ts';
import { failureOf, heldSystem, KEY, ORDER, settle, startServer } from './support.ts';

const create = createOrder(ORDER);

function open(baseUrl: string, system: System = realSystem) {
  const transport = createTransport({ baseUrl, timeoutMs: 30_000, system });
  onTestFinished(() => transport.close());
  return transport;
}

describe('a request', () => {
  it('carries the key, the order and nothing else', async () => {
    const server = await startServer((_, response) => response.writeHead(201).end('{"id":1}'));
    const answer = await open(`${server.baseUrl}/`).send(
      createOrder({ ...ORDER, extra: 'no' } as typeof ORDER),
      KEY,
    );
    expect(answer).toEqual({ status: 201, text: '{"id":1}' });
    const [arrival] = server.arrivals;
    expect(arrival).toMatchObject({ method: 'POST', url: '/v1/servers', body: JSON.stringify(ORDER) });
    expect(arrival?.headers).toMatchObject({
      authorization: 'Bearer key-of-the-account',
      'content-type': 'application/json',
    });
  });

  it('does not follow a redirect, with the key in its hand', async () => {
    const server = await startServer((_, response) =>
      response.writeHead(302, { location: '/elsewhere' }).end(),
    );
    expect(await open(server.baseUrl).send(listServers, KEY)).toMatchObject({ status: 302 });
    expect(server.arrivals).toHaveLength(1);
  });

  it('uses a connection again: twenty calls, one after the other, need two at most', async () => {
    const server = await startServer((_, response) => response.end('[]'));
    const transport = open(server.baseUrl);
    for (let call = 0; call < 20; call++) await transport.send(listServers, KEY);
    expect(server.arrivals).toHaveLength(20);
    expect(server.connections).toBeLessThanOrEqual(2);
  });

  it('opens no more than 32 connections', async () => {
    const server = await startServer((_, response) => setImmediate(() => response.end('[]')));
    const transport = open(server.baseUrl);
    await Promise.all(Array.from({ length: 200 }, () => transport.send(listServers, KEY)));
    expect(server.arrivals).toHaveLength(200);
    expect(server.connections).toBeLessThanOrEqual(32);
  });

  it('is refused as unauthorized when no header can hold the key, and the key is in no error', async () => {
    const server = await startServer((_, response) => response.end('[]'));
    const failure = await failureOf(open(server.baseUrl).send(listServers, new Secret('kéy\nsecret')));
    expect(failure).toMatchObject({ code: 'unauthorized', moneyMoved: 'no' });
    expect(JSON.stringify(failure) + failure.stack).not.toContain('secret');
    expect(server.arrivals).toHaveLength(0);
  });
});

describe('a paid request that was cut off', () => {
  it('arrives once and is in doubt when the connection is cut after the service read it', async () => {
    const server = await startServer((request) => request.socket.destroy());
    const failure = await failureOf(open(server.baseUrl).send(create, KEY));
    expect(failure).toMatchObject({ code: 'no_answer', moneyMoved: 'maybe' });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(server.arrivals).toHaveLength(1);
  });

  it('arrives once when a kept-alive connection is cut under it', async () => {
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

  it('arrives at most once, whenever an idle connection is closed round it', async () => {
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

  it('is in doubt when the answer breaks off in the middle', async () => {
    const server = await startServer((request, response) => {
      response.writeHead(201, { 'content-length': '100' });
      response.write('{"id":7,', () => request.socket.destroy());
    });
    const failure = await failureOf(open(server.baseUrl).send(create, KEY));
    expect(failure).toMatchObject({ code: 'no_answer', moneyMoved: 'maybe', details: { status: 201 } });
    // What came until then may hold the root password.
    expect(failure.sealedAnswer?.reveal()).toBe('{"id":7,');
  });

  it('is in doubt when the other side speaks something else than HTTP', async () => {
    const server = createServer((socket) => socket.on('data', () => socket.end('220 smtp ready\r\n')));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const failure = await failureOf(open(`http://127.0.0.1:${port}`).send(create, KEY));
    expect(failure).toMatchObject({ code: 'no_answer', moneyMoved: 'maybe' });
  });
});

describe('the one timeout', () => {
  it('does not throw away an answer that arrived while the whole process stood still', async () => {
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

  it('ends an answer whose body drips for ever', async () => {
    const system = heldSystem();
    const server = await startServer((_, response) => {
      response.writeHead(200);
      response.write('[', () => setImmediate(() => system.endSleeps()));
    });
    const failure = await failureOf(open(server.baseUrl, system).send(listServers, KEY));
    expect(failure).toMatchObject({ code: 'no_answer', moneyMoved: 'no' });
    await server.arrivals[0]?.cut;
  });

  it('proves that a paid request never left when it ended in the line for a connection', async () => {
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

  it('is whole when it comes in many pieces, letters cut in half included', async () => {
    const text = JSON.stringify([{ label: 'größe-€-𝄞'.repeat(200) }]);
    const bytes = Buffer.from(text);
    const server = await startServer((_, response) => {
      for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7));
      response.end();
    });
    expect((await open(server.baseUrl).send(listServers, KEY)).text).toBe(text);
  });
});

describe('an answer that is not UTF-8', () => {
  it('is handed on with every byte that came, for a password that is in it', async () => {
    const server = await startServer((_, response) =>
      response.end(Buffer.from('{"id":7,"root_password":"ü€"}', 'latin1')),
    );
    const answer = await open(server.baseUrl).send(create, KEY);
    expect(answer.text).toContain('\uFFFD');
    const made = decode(create, answer, () => {});
    expect(made.rootPassword).toBeUndefined();
    expect(Buffer.from(made.sealedAnswer?.reveal() ?? '', 'latin1').toString('latin1')).toContain('"ü');
  });
});

it('brings the headers that speak of pages, and no others', async () => {
  const server = await startServer((_, response) =>
    response.writeHead(200, { link: '<a>; rel="next"', 'x-total-count': '5', 'x-secret': 'no' }).end('[]'),
  );
  const { paging } = await open(server.baseUrl).send(listServers, KEY);
  expect(paging).toEqual({ link: '<a>; rel="next"', 'x-total-count': '5' });
});

describe('not_sent needs two proofs', () => {
  /** A connection on which exactly this happens. */
  class Scripted extends Dispatcher {
    readonly abort = vi.fn();
    readonly #script: (
      handler: Dispatcher.DispatchHandler,
      controller: Dispatcher.DispatchController,
    ) => void;

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

  const send = (dispatcher: Dispatcher) =>
    createTransport({ baseUrl: 'http://x/v1', timeoutMs: 30_000, system: realSystem, dispatcher }).send(
      create,
      KEY,
    );
  const failing = (code: string) => Object.assign(new Error(code), { code });

  it.each([
    'ECONNRESET',
    'EPIPE',
    'ETIMEDOUT',
    'UND_ERR_SOCKET',
    'UND_ERR_INFO',
  ])('a failure that also happens later is a doubt, even if undici never said it wrote: %s', async (code) => {
    const failure = await failureOf(
      send(new Scripted((handler, controller) => handler.onResponseError?.(controller, failing(code)))),
    );
    expect(failure).toMatchObject({ code: 'no_answer', moneyMoved: 'maybe', details: { cause: code } });
  });

  it.each([
    'EPROTO',
    'UND_ERR_DESTROYED',
    'UND_ERR_CONNECT_TIMEOUT',
  ])('a failure of connecting is a doubt, once undici began to write: %s', async (code) => {
    const script = (handler: Dispatcher.DispatchHandler, controller: Dispatcher.DispatchController) => {
      handler.onRequestStart?.(controller, {});
      handler.onResponseError?.(controller, failing(code));
    };
    expect(await failureOf(send(new Scripted(script)))).toMatchObject({
      code: 'no_answer',
      moneyMoved: 'maybe',
    });
  });

  it('a request that undici begins to write for the second time is stopped', async () => {
    const connection = new Scripted((handler, controller) => {
      handler.onRequestStart?.(controller, {});
      handler.onRequestStart?.(controller, {});
      expect(connection.abort).toHaveBeenCalledOnce();
      handler.onResponseError?.(controller, failing('UND_ERR_SOCKET'));
    });
    expect(await failureOf(send(connection))).toMatchObject({ code: 'no_answer' });
  });
});

describe('failures before the first byte', () => {
  it('proves that nothing left when nobody listens', async () => {
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

  it('proves that nothing left when the name is nobody’s', async () => {
    const failure = await failureOf(open('http://no-such-host.invalid/v1').send(create, KEY));
    expect(failure).toMatchObject({ code: 'not_sent', moneyMoved: 'no' });
  });

  it('proves that nothing left when the other side speaks no TLS', async () => {
    const server = await startServer((_, response) => response.end());
    const failure = await failureOf(open(server.baseUrl.replace('http:', 'https:')).send(create, KEY));
    expect(failure).toMatchObject({ code: 'not_sent', moneyMoved: 'no' });
    expect(server.arrivals).toEqual([]);
  });

  it('sends nothing once it is closed', async () => {
    const server = await startServer((_, response) => response.end('[]'));
    const transport = createTransport({ baseUrl: server.baseUrl, timeoutMs: 30_000, system: realSystem });
    await transport.close();
    expect(await failureOf(transport.send(create, KEY))).toMatchObject({
      code: 'not_sent',
      moneyMoved: 'no',
    });
  });
});

it('lets a request under way end when it closes', async () => {
  const held: (() => void)[] = [];
  const server = await startServer((_, response) => held.push(() => response.writeHead(201).end('{"id":1}')));
  const transport = createTransport({ baseUrl: server.baseUrl, timeoutMs: 30_000, system: realSystem });
  const paid = transport.send(create, KEY);
  await expect.poll(() => held.length).toBe(1);
  const closed = transport.close();
  held[0]?.();
  expect(await paid).toMatchObject({ status: 201 });
  await closed;
});
