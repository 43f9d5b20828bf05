import { createHmac } from 'node:crypto';
import type { App } from '@slack/bolt';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { silentLog } from '../../../src/log.ts';
import { createHttpReceiver } from '../../../src/slack/http-receiver.ts';
import { createSlackClock } from '../../../src/slack/slack-api.ts';
import { realSystem } from '../../../src/system.ts';
import { createMetrics } from '../../../src/web/metrics.ts';
import { createWebServer, listen } from '../../../src/web/server.ts';
import { startCpuTimer } from '../../support/cpu-time.ts';

const SECRET = 'the signing secret of these tests';
const KIB = 1024;
const LONGEST = 512 * KIB;

/** The app's server, in which every signed request is acknowledged. */
async function startReceiver() {
  const { receiver, listener } = createHttpReceiver({
    signingSecret: new Secret(SECRET),
    log: silentLog,
    clock: createSlackClock(realSystem),
  });
  receiver.init({ processEvent: async ({ ack }: { ack(): Promise<void> }) => ack() } as unknown as App);
  const parts = {
    system: realSystem,
    log: silentLog,
    metrics: createMetrics(),
    slack: listener,
    faults: async () => [],
    warnings: () => [],
    explain: () => 'no',
    findConnectLink: () => new Promise<never>(() => undefined),
    entry: undefined as never,
  };
  const server = createWebServer(parts);
  const port = await listen(server, 0, '127.0.0.1');
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { port };
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

describe('the body of a request whose signature isn’t checked yet', () => {
  const post = async ({ port }: Receiver, body: string) =>
    (await fetch(`http://127.0.0.1:${port}/slack/events`, { method: 'POST', body })).status;

  test('is not parsed as a form, which would take long for a large one', async () => {
    const app = await startReceiver();
    const body = `payload=${'+'.repeat(LONGEST - 100)}`;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const send = () => fetch(`http://127.0.0.1:${app.port}/slack/events`, { method: 'POST', headers, body });
    expect((await send()).status).toBe(401);
    expect(await measureWork(send)).toBeLessThan(MOST_WORK_MS);
  });

  test('is answered once it is complete, whatever it contains', async () => {
    const app = await startReceiver();
    const answers = [
      await sendSigned(app, 400 * KIB),
      await post(app, 'x'.repeat(100 * KIB)),
      await sendSigned(app, 'payload=null'),
      await post(app, 'null'),
      await post(app, 'x'.repeat(LONGEST + 1)),
      await sendSigned(app, LONGEST),
    ];
    expect(answers).toEqual([200, 401, 400, 401, 413, 413]);
  });

  test('is read unchanged, however it is split into packets', async () => {
    const app = await startReceiver();
    const text = 'ä€😀'.repeat(3000);
    expect(await sendSigned(app, `command=%2Fvps&team_id=T1&text=${text}`)).toBe(200);
  });
});
