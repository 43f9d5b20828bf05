import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Log, silentLog } from '../../src/log.ts';
import { startTeam } from '../support/team.ts';
import { triesOf } from '../support/tries.ts';
import { startWebServer } from '../web/support.ts';

const SOCKETS = triesOf({ short: 300, long: 3000 });

/** What a client sends before it falls silent, its connection open. */
const UNFINISHED: Readonly<Record<string, string>> = {
  nothing: '',
  'half a header': 'POST /slack/events HTTP/1.1\r\nhost: x\r\ncontent-',
  'half a body': 'POST /connect/token HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\napi_key=',
  'no HTTP at all': 'hello\r\n\r\n',
};

async function startServer(mostConnections: number, timeoutMs = 200) {
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (words) => void warnings.push(words) };
  const started = await startWebServer(
    { log, slack: () => undefined },
    {
      headersTimeout: timeoutMs,
      requestTimeout: 2 * timeoutMs,
      connectionsCheckingInterval: 50,
      mostConnections,
    },
  );
  return { ...started, warnings };
}

/** Opens connections that never end by themselves, whatever the server does. */
async function openSilent(port: number, text: string, sockets: number): Promise<readonly Socket[]> {
  const opened = Array.from({ length: sockets }, () => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined);
    socket.on('connect', () => text !== '' && socket.write(text));
    return socket;
  });
  onTestFinished(() => {
    for (const socket of opened) socket.destroy();
  });
  await Promise.all(opened.map((socket) => once(socket, 'connect')));
  return opened;
}

const countOpen = (server: Server) =>
  new Promise<number>((resolve) => server.getConnections((_, open) => resolve(open)));

describe('connections that were not finished', () => {
  test.each(Object.entries(UNFINISHED))('are freed: %s', async (_, text) => {
    const { server, port } = await startServer(10_000);
    for (let open = 0; open < SOCKETS; open += 300) await openSilent(port, text, 300);
    await expect.poll(() => countOpen(server), { timeout: 30_000 }).toBe(0);
  });

  test.each(
    Object.entries(UNFINISHED).slice(0, 3),
  )('make room for those that send a request, the oldest first, and the log says so once: %s', async (_, text) => {
    const { server, port, warnings } = await startServer(50, 60_000);
    const opened = await openSilent(port, text, 60);
    for (let request = 0; request < 20; request++) {
      const response = await fetch(`http://127.0.0.1:${port}/livez`, { headers: { connection: 'close' } });
      expect(response.status).toBe(200);
    }
    expect(await countOpen(server)).toBeLessThanOrEqual(50);
    expect(warnings).toEqual([expect.stringMatching(/^too many connections at once/)]);
    for (const socket of opened) socket.resume();
    const listClosed = () =>
      [...opened.keys()].filter((at) => opened[at]?.readableEnded || opened[at]?.closed);
    await expect.poll(() => listClosed().length).toBeGreaterThan(10);
    expect(listClosed().filter((at) => at > 35)).toEqual([]);
  });

  test('are not those whose request waits for its answer', async () => {
    const { port } = await startServer(10, 60_000);
    const whole = 'GET /connect/token HTTP/1.1\r\nhost: x\r\n\r\n';
    const waiting = await openSilent(port, whole, 5);
    await openSilent(port, '', 30);
    expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
    expect(waiting.map((socket) => socket.closed || socket.readableEnded)).toEqual(waiting.map(() => false));
  });
});

describe('bodies that were not finished', () => {
  const MIB = 2 ** 20;
  const CHUNKED = 'POST /slack/events HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const measure = () => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };

  /** Each sends that many parts, and never the last one. */
  async function trickle(port: number, sockets: number, part: string, times: number): Promise<void> {
    const opened = await openSilent(port, CHUNKED, sockets);
    await Promise.all(
      opened.map(async (socket) => {
        for (let sent = 0; sent < times && socket.writable; sent++)
          if (!socket.write(part)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
      }),
    );
  }

  test('take only the memory of what was sent, large or in tiny parts, and leave room for a command of Slack', async () => {
    await using team = await startTeam({ mode: 'http' });
    await team.viewer.types('/vps list');
    await team.viewer.sees('servers');
    const before = measure();
    for (const { sockets, part, times } of [
      { sockets: 200, part: chunk('x'.repeat(32 * 1024)), times: 15 },
      // Each part of a body costs more memory than what it says.
      { sockets: 12, part: chunk('x').repeat(1000), times: 100 },
    ]) {
      await trickle(team.app.port, sockets, part, times);
      // What was sent has arrived: an answer to a later request shows it.
      expect((await fetch(`${team.appUrl}/livez`)).status).toBe(200);
      // Each connection has some memory of its own, too.
      expect((measure() - before) / MIB).toBeLessThan(150);
    }
    await team.viewer.types('/vps catalog');
    await team.viewer.sees('Plans');
  });
});
