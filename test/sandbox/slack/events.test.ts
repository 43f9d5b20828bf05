import { describe, expect, it } from 'vitest';
import { type FakeApp, type Reply, startBoth } from './support/fake-app.ts';

/** An app that answers each try of an event in turn, and Slack's pauses shortened. */
async function start(replies: readonly Reply[]) {
  const both = await startBoth({
    app: { events: ['app_uninstalled'], eventRetryDelaysMs: [0, 5, 5], ackTimeoutMs: 500 },
  });
  let tries = 0;
  both.app.reply = () => replies[tries++] ?? {};
  return both;
}

const triesOf = ({ received }: FakeApp) =>
  received.map(({ headers }) => [headers['x-slack-retry-num'], headers['x-slack-retry-reason']]);

describe('an event', () => {
  it('that is acknowledged comes once, without a word of retries', async () => {
    const { slack, app } = await start([]);
    await slack.uninstallApp();
    expect(triesOf(app)).toEqual([[undefined, undefined]]);
  });

  it('that is not acknowledged comes three times more, newly signed and with the same ID', async () => {
    const { slack, app } = await start([{ status: 500 }, { status: 500 }, { status: 500 }, { status: 500 }]);
    await slack.uninstallApp();
    await expect
      .poll(() => triesOf(app))
      .toEqual([
        [undefined, undefined],
        ['1', 'http_error'],
        ['2', 'http_error'],
        ['3', 'http_error'],
      ]);
    expect(new Set(app.received.map(({ content }) => content.event_id)).size).toBe(1);
    for (const { headers, body } of app.received)
      expect(headers['x-slack-signature']).toBe(
        slack.sign(body, String(headers['x-slack-request-timestamp'])),
      );
  });

  it('that is answered too late comes again for that reason, until it is acknowledged', async () => {
    const { slack, app } = await start([{ delayMs: Number.POSITIVE_INFINITY }]);
    await slack.uninstallApp();
    await expect
      .poll(() => triesOf(app))
      .toEqual([
        [undefined, undefined],
        ['1', 'http_timeout'],
      ]);
  });

  it('may come again although it was acknowledged', async () => {
    const { slack, app } = await start([]);
    slack.faults.repeatEvents();
    await slack.uninstallApp();
    await expect
      .poll(() => triesOf(app))
      .toEqual([
        [undefined, undefined],
        ['1', 'http_timeout'],
      ]);
  });
});
