import { App } from '@slack/bolt';
import { afterEach, describe, expect, it } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import type { Log } from '../../src/log.ts';
import type { Delivery } from '../../src/sandbox/slack/deliver.ts';
import { quietLogger } from '../../src/slack/bolt.ts';
import { createSocketReceiver, type SocketTimes } from '../../src/slack/socket.ts';
import { realSystem } from '../../src/system.ts';
import { APP_TOKEN, startSocketSlack } from '../sandbox/slack/support/socket-app.ts';
import { until } from '../support/eventually.ts';
import type { LocalSlack } from '../support/slack/local-slack.ts';
import { gate } from './support/fakes.ts';

type Connected = Awaited<ReturnType<typeof start>>;

const running: { stop(): Promise<void> }[] = [];
const rejections: unknown[] = [];
const noteRejection = (reason: unknown) => rejections.push(reason);
afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.stop()));
  process.off('unhandledRejection', noteRejection);
  expect(rejections.splice(0)).toEqual([]);
});

interface Setting {
  readonly times?: Partial<SocketTimes>;
  /** Awaited before each ack. */
  readonly ackAfter?: () => Promise<void>;
  /** What happens in Slack before the app starts. */
  readonly before?: (slack: LocalSlack) => unknown;
}

/** A local Slack and an app that answers its commands; the first connection is open, or its attempt has failed. */
async function start(setting: Setting = {}) {
  process.on('unhandledRejection', noteRejection);
  const slack = await startSocketSlack();
  await setting.before?.(slack);
  /** The reasons that were logged. */
  const logged: unknown[] = [];
  const note: Log['error'] = (words, fields = {}) => logged.push(fields.reason ?? words);
  const log: Log = { debug() {}, info() {}, warn: note, error: note };
  const ending = new AbortController();
  const transport = createSocketReceiver({
    appToken: new Secret(APP_TOKEN),
    slackApiUrl: slack.apiUrl,
    log,
    system: realSystem,
    signal: ending.signal,
    times: setting.times ?? {},
  });
  const receiver = { init: transport.connect, start: async () => undefined, stop: async () => undefined };
  const app = new App({ receiver, logger: quietLogger(log), convoStore: false, authorize: async () => ({}) });
  /** What the app was sent: the texts of commands. */
  const taken: string[] = [];
  app.command(/.*/, async ({ ack, body }) => {
    taken.push(body.text);
    await setting.ackAfter?.();
    await ack();
  });
  const stop = async () => {
    ending.abort();
    await transport.close();
  };
  running.unshift({ stop });
  const started = transport.start();
  await Promise.race([started, realSystem.sleep(3000)]);
  return { slack, transport, taken, logged, stop };
}

const isReady = ({ transport }: Connected) => transport.faults().length === 0;

/** Types commands without a pause until `isEnough`. Returns those that were lost, and the longest time without an ack. */
async function typeUntil({ slack }: Connected, isEnough: () => boolean) {
  const user = slack.as('olga');
  const lost: Delivery[] = [];
  let longestMs = 0;
  for (let at = performance.now(); !isEnough(); ) {
    const delivery = await user.types(`/vps ${performance.now()}`);
    if (delivery?.status !== 200) {
      if (delivery) lost.push(delivery);
      continue;
    }
    longestMs = Math.max(longestMs, performance.now() - at);
    at = performance.now();
  }
  return { lost, longestMs };
}

describe('a connection to Slack', () => {
  it('is replaced before Slack closes it, so that a refresh leaves no gap', async () => {
    const connected = await start();
    const { slack, taken } = connected;
    for (const reason of ['warning', 'refresh_requested']) {
      let most = 0;
      slack.sockets.refresh({ reason, closeAfterMs: 10_000 });
      const { lost, longestMs } = await typeUntil(connected, () => {
        most = Math.max(most, slack.sockets.count);
        expect(isReady(connected)).toBe(true);
        return most === 2 && slack.sockets.count === 1;
      });
      // Slack's own library leaves five seconds without an answer.
      expect(longestMs).toBeLessThan(2000);
      // Only what Slack sends over a connection in the very moment in which it is closed.
      expect(lost.length).toBeLessThanOrEqual(1);
    }
    expect(new Set(taken).size).toBe(taken.length);
    expect(connected.logged).toEqual([]);
  });

  it('is kept beside its successor while Slack waits for an answer over it', async () => {
    const held = gate();
    const connected = await start({ ackAfter: held.pass });
    const { slack, taken } = connected;
    const user = slack.as('olga');
    const first = user.types('/vps one');
    await until(() => taken.length === 1);
    slack.sockets.refresh();
    await until(() => slack.sockets.count === 2);
    const others = [user.types('/vps two'), user.types('/vps three')];
    await until(() => taken.length === 3);
    held.open();
    const statuses = (await Promise.all([first, ...others])).map((delivery) => delivery?.status);
    expect(statuses).toEqual([200, 200, 200]);
    await until(() => slack.sockets.count === 1);
    expect(isReady(connected)).toBe(true);
  });

  it('that breaks without a close is replaced at once', async () => {
    const connected = await start({ times: { stableMs: 0 } });
    const { slack, logged } = connected;
    const brokenAt = performance.now();
    slack.sockets.drop();
    await until(() => logged.includes('closed') && slack.sockets.count === 1 && isReady(connected));
    expect(performance.now() - brokenAt).toBeLessThan(3000);
    await slack.as('olga').types('/vps again');
    expect(connected.taken).toEqual(['again']);
  });

  it('that stops receiving anything is noticed, logged and replaced', async () => {
    const connected = await start({ times: { pongTimeoutMs: 900, stableMs: 0, lookMs: 10 } });
    const { slack } = connected;
    slack.sockets.deafen();
    await until(() => !isReady(connected));
    expect(connected.transport.faults()[0]).toContain('connection');
    // Slack has not been told that the first one is gone.
    await until(() => slack.sockets.count === 2 && isReady(connected));
    // The library itself has asked the deaf end to close, and waits for its answer.
    expect(connected.logged).toEqual(['silent']);
  });
});

describe('a connection that can’t be opened', () => {
  it.each([
    ['invalid_auth', 'rejected SLACK_APP_TOKEN'],
    ['missing_scope', 'connections:write'],
    ['internal_error', 'can’t open its connection to Slack (internal_error)'],
  ])('because of %s is reported as a fault, and retried until it works', async (code, words) => {
    const connected = await start({
      before: ({ faults }) => faults.failMethod('apps.connections.open', code, 1),
    });
    expect(connected.transport.faults()).toEqual([expect.stringContaining(words)]);
    await until(() => isReady(connected));
    expect(connected.logged).toEqual([code]);
  });

  it('because Slack doesn’t greet it is reported as a fault, and leaves no WebSocket behind', async () => {
    const connected = await start({
      before: ({ sockets }) => {
        sockets.isGreeting = false;
      },
      times: { helloTimeoutMs: 100 },
    });
    const { slack, transport } = connected;
    expect(transport.faults()).toEqual([expect.stringContaining('didn’t confirm it')]);
    slack.sockets.isGreeting = true;
    await until(() => isReady(connected));
    await until(() => slack.sockets.count === 1);
  });
});

describe('a stop in Socket Mode', () => {
  it('leaves no connection behind that was being opened', async () => {
    const connected = await start({
      before: ({ faults }) => faults.slowDown('apps.connections.open', 300),
      times: { helloTimeoutMs: 50 },
    });
    await connected.stop();
    // By then, Slack has answered, and what it answered could have been used.
    await realSystem.sleep(600);
    expect(connected.slack.traffic().map(({ what }) => what)).toContain('apps.connections.open');
    expect(connected.slack.sockets.count).toBe(0);
  });
});
