import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { App } from '@slack/bolt';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { createLog } from '../../../src/log.ts';
import { createHttpReceiver } from '../../../src/slack/transport/http-receiver.ts';
import { createSlackClock } from '../../../src/slack/transport/slack-clock.ts';
import { BODY_LIMIT_BYTES, UnverifiedBodies } from '../../../src/slack/transport/unverified-bodies.ts';
import { realSystem } from '../../../src/system.ts';
import { createMetrics } from '../../../src/web/metrics.ts';
import { createWebServer, listen } from '../../../src/web/server.ts';
import { startCpuTimer } from '../../support/cpu-time.ts';

const SECRET = 'the signing secret of these tests';
const KIB = 1024;
const LIMITS = { mostBytes: 256 * KIB, smallBytes: 16 * KIB };

/** The app's server, in which every signed request is acknowledged. */
async function startReceiver({ requestTimeout = 120_000, mostBytes = LIMITS.mostBytes } = {}) {
  const bodies = new UnverifiedBodies({ ...LIMITS, mostBytes });
  const warnings: string[] = [];
  const log = { ...createLog('silent'), warn: (words: string) => void warnings.push(words) };
  const { receiver, listener } = createHttpReceiver({
    signingSecret: new Secret(SECRET),
    system: realSystem,
    log,
    bodies,
    clock: createSlackClock(realSystem),
  });
  receiver.init({ processEvent: async ({ ack }: { ack(): Promise<void> }) => ack() } as unknown as App);
  const parts = {
    system: realSystem,
    metrics: createMetrics(),
    slack: listener,
    faults: async () => [],
    warnings: () => [],
    explain: () => 'no',
    findConnectLink: () => new Promise<never>(() => undefined),
    entry: undefined as never,
  };
  const server = createWebServer(parts, {
    requestTimeout,
    headersTimeout: requestTimeout,
    connectionsCheckingInterval: 100,
  });
  const port = await listen(server, 0, '127.0.0.1');
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { bodies, port, warnings };
}

type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** A command of that length, or just what is given. */
async function sendSigned({ port }: Receiver, given: number | string): Promise<number> {
  const body = typeof given === 'string' ? given : `command=%2Fvps&team_id=T1&text=${'a'.repeat(given)}`;
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', SECRET).update(`v0:${timestamp}:${body}`).digest('hex');
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': `v0=${signature}`,
  };
  return (await fetch(`http://127.0.0.1:${port}/slack/events`, { method: 'POST', headers, body })).status;
}

/** Begins requests that announce more than they send; each keeps what it was answered. */
async function begin({ port }: Receiver, sockets: number, bytes: number) {
  const opened = await Promise.all(
    Array.from({ length: sockets }, async () => {
      const socket = connect({ port, host: '127.0.0.1' });
      const answer = { text: '' };
      socket.on('error', () => undefined).on('data', (part) => (answer.text += part.toString()));
      await once(socket, 'connect');
      socket.write(`POST /slack/events HTTP/1.1\r\nhost: x\r\ncontent-length: ${bytes + 1}\r\n\r\n`);
      socket.write('x'.repeat(bytes));
      return { socket, answer };
    }),
  );
  onTestFinished(() => destroyAll(opened));
  return opened;
}

function destroyAll(opened: readonly { readonly socket: Socket }[]): void {
  for (const { socket } of opened) socket.destroy();
}

/** The time on the processor, in milliseconds; of several runs, the best one counts. */
async function measureWork(work: () => Promise<unknown>): Promise<number> {
  const runs: number[] = [];
  for (let run = 0; run < 3; run++) {
    const readMs = startCpuTimer();
    await work();
    runs.push(readMs());
  }
  return Math.min(...runs);
}

/** Sending a MiB takes most of it; to read it as a form, as Bolt and the app did, took hundreds. */
const MOST_WORK_MS = 100;

describe('bodies whose signature isn’t checked yet', () => {
  test('hold no more than they may; the oldest large ones are given up, and told to try again', async () => {
    const app = await startReceiver();
    const first = await begin(app, 4, 60 * KIB);
    await expect.poll(() => app.bodies.heldBytes).toBe(4 * 64 * KIB);
    const later = await begin(app, 4, 60 * KIB);
    await expect.poll(() => first.filter(({ answer }) => answer.text !== '').length).toBe(4);
    expect(app.bodies.heldBytes).toBe(LIMITS.mostBytes);
    for (const { answer } of first)
      expect(answer.text).toMatch(/^HTTP\/1\.1 503 .*\r\n(?:.*\r\n)*retry-after: 30\r\n/i);
    expect(later.map(({ answer }) => answer.text)).toEqual(['', '', '', '']);
    expect(app.warnings).toHaveLength(1);
  });

  test('don’t keep a signed request out, small or large', async () => {
    const app = await startReceiver();
    await begin(app, 3, 60 * KIB);
    await begin(app, 3, 12 * KIB);
    await expect.poll(() => app.bodies.heldBytes).toBeGreaterThan(LIMITS.mostBytes - 64 * KIB);
    for (const bytes of [100, 10 * KIB, 100 * KIB]) {
      await begin(app, 3, 60 * KIB);
      expect(await sendSigned(app, bytes)).toBe(200);
      expect(app.bodies.heldBytes).toBeLessThanOrEqual(LIMITS.mostBytes);
    }
  });

  test('don’t keep out a small signed one even if small ones fill the room of all', async () => {
    const app = await startReceiver();
    await begin(app, LIMITS.mostBytes / LIMITS.smallBytes, 15 * KIB);
    await expect.poll(() => app.bodies.heldBytes).toBe(LIMITS.mostBytes);
    expect(await sendSigned(app, 10 * KIB)).toBe(200);
    // A large one has to wait until they have ended.
    expect(await sendSigned(app, 100 * KIB)).toBe(503);
    expect(app.bodies.heldBytes).toBe(LIMITS.mostBytes);
  });

  const post = async ({ port }: Receiver, body: string) =>
    (await fetch(`http://127.0.0.1:${port}/slack/events`, { method: 'POST', body })).status;

  // A33 in docs/attacks.md.
  test('hold nobody up: what is large is not read as a form, which would take long', async () => {
    const app = await startReceiver({ mostBytes: 8 * BODY_LIMIT_BYTES });
    const body = `payload=${'+'.repeat(BODY_LIMIT_BYTES - 100)}`;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const send = () => fetch(`http://127.0.0.1:${app.port}/slack/events`, { method: 'POST', headers, body });
    expect((await send()).status).toBe(401);
    expect(await measureWork(send)).toBeLessThan(MOST_WORK_MS);
  });

  test('give their memory back when they are answered, whatever the answer', async () => {
    const app = await startReceiver({ mostBytes: 2048 * KIB });
    const answers = [
      await sendSigned(app, 100 * KIB),
      await post(app, 'x'.repeat(100 * KIB)),
      await sendSigned(app, 'null'),
      await post(app, 'null'),
      await post(app, 'x'.repeat(2000 * KIB)),
    ];
    expect(answers).toEqual([200, 401, 400, 401, 413]);
    expect(app.bodies.heldBytes).toBe(0);
  });

  test('give their memory back when their connections are cut', async () => {
    const app = await startReceiver();
    const opened = await begin(app, 3, 60 * KIB);
    await expect.poll(() => app.bodies.heldBytes).toBe(3 * 64 * KIB);
    destroyAll(opened);
    await expect.poll(() => app.bodies.heldBytes).toBe(0);
  });

  test('give their memory back when they take too long, and so do those that were given up', async () => {
    const app = await startReceiver({ requestTimeout: 2000 });
    const opened = await begin(app, 6, 60 * KIB);
    await Promise.all(opened.map(({ socket }) => socket.closed || once(socket, 'close')));
    await expect.poll(() => app.bodies.heldBytes).toBe(0);
    const givenUp = opened.filter(({ answer }) => answer.text.startsWith('HTTP/1.1 503'));
    expect(givenUp).toHaveLength(2);
  });
});

test('memory is counted exactly, bodies come out as they came in, and small ones are never given up', () => {
  const parts = fc.array(fc.tuple(fc.nat(19), fc.integer({ min: 1, max: 40 * KIB }), fc.boolean()), {
    minLength: 20,
    maxLength: 200,
  });
  fc.assert(
    fc.property(parts, (steps) => {
      const bodies = new UnverifiedBodies({ mostBytes: 20 * 16 * KIB, smallBytes: 16 * KIB });
      const given = new Set<number>();
      const all = Array.from({ length: 20 }, (_, at) => ({
        body: bodies.open(() => given.add(at)),
        sent: [] as Buffer[],
        isReleased: false,
      }));
      for (const [at, bytes, ends] of steps) {
        const each = all[at];
        if (!each) continue;
        const part = Buffer.alloc(bytes, at + each.sent.length);
        each.body.add(part);
        each.sent.push(part);
        const sent = Buffer.concat(each.sent);
        if (given.has(at)) expect(sent.length).toBeGreaterThan(16 * KIB);
        else if (!each.isReleased && sent.length <= KIB * KIB)
          expect(each.body.read().equals(sent)).toBe(true);
        if (ends) {
          each.body.release();
          each.isReleased = true;
        }
        expect(bodies.heldBytes).toBe(all.reduce((sum, { body }) => sum + body.heldBytes, 0));
        expect(bodies.heldBytes).toBeLessThanOrEqual(20 * 16 * KIB);
      }
      for (const { body } of all) body.release();
      expect(bodies.heldBytes).toBe(0);
    }),
  );
});
