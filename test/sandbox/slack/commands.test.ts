import { describe, expect, it } from 'vitest';
import { SlackRefusal } from '../../../src/sandbox/slack/refusal.ts';
import { actions, afterCommand, brokenRules, button, section, startBoth } from './support/fake-app.ts';

describe('a slash command', () => {
  it('ends in operation_timeout when the app does not acknowledge in time', async () => {
    const { slack, app } = await startBoth({ app: { ackTimeoutMs: 40 } });
    app.reply = () => ({ isSilent: true });
    const owner = slack.as('olga');
    await owner.types('/vps list');
    await owner.sees('/vps failed with the error "operation_timeout"');
    slack.as('vera').doesNotSee('operation_timeout');
    expect(brokenRules(slack)).toEqual(['late_ack']);
  });

  it('ends in dispatch_failed when the app answers anything but 200', async () => {
    const { slack, app } = await startBoth();
    app.reply = () => ({ status: 500 });
    const owner = slack.as('olga');
    await owner.types('/vps list');
    await owner.sees('dispatch_failed');
    expect(brokenRules(slack)).toEqual(['bad_ack']);
  });

  it('drops an ack with blocks that Slack refuses', async () => {
    const { slack, app } = await startBoth();
    app.reply = () => ({ body: { text: 'x', blocks: [section('')] } });
    await slack.as('olga').types('/vps list');
    expect(slack.as('olga').messages()).toEqual([]);
    expect(brokenRules(slack)).toEqual(['limits']);
  });

  it('is not available to users of other organizations, nor in channels they are not in', async () => {
    const { slack, app } = await startBoth();
    const external = slack.as('sam').in('#acme-shared');
    await expect(external.types('/vps list')).rejects.toThrow('command_not_available');
    await external.types('/vps list', { isForced: true });
    expect(app.received.splice(0)).toMatchObject([{ content: { user_id: 'U0STRANGER', text: 'list' } }]);
    expect(() => slack.as('gus').in('#random')).toThrow(SlackRefusal);
    expect(() => slack.as('gus').in('#nowhere')).toThrow('channel_not_found');
    await expect(slack.as('olga').types('/other')).rejects.toThrow('unknown_command');
    expect(app.received).toEqual([]);
  });
});

const ok = { status: 200, body: 'ok' };

describe('the response_url of a command', () => {
  it('may be used five times', async () => {
    const { app, url, brokenRules } = await afterCommand();
    for (let use = 1; use <= 5; use += 1) expect(await app.respond(url, { text: `${use}` })).toEqual(ok);
    expect(await app.respond(url, { text: '6' })).toEqual({ status: 404, body: 'used_url' });
    expect(brokenRules()).toEqual(['reply_url_used_up']);
  });

  it('lives for thirty minutes', async () => {
    const { app, url, clock, brokenRules } = await afterCommand();
    clock.advance(30 * 60_000);
    expect(await app.respond(url, { text: 'in time' })).toEqual(ok);
    clock.advance(1);
    expect(await app.respond(url, { text: 'too late' })).toEqual({ status: 404, body: 'expired_url' });
    expect(brokenRules()).toEqual(['reply_url_expired']);
  });

  it('refuses empty messages and blocks over the limits, in the body of a 200', async () => {
    const { app, url, owner, brokenRules } = await afterCommand();
    const empty = await app.respond(url, {});
    expect([empty.status, JSON.parse(empty.body).error]).toEqual([200, 'no_text']);
    const refused = await app.respond(url, { text: 'x', blocks: [section('a'.repeat(3001))] });
    expect([refused.status, JSON.parse(refused.body).error]).toEqual([200, 'invalid_blocks']);
    expect(owner.messages()).toEqual([]);
    expect(brokenRules()).toEqual(['limits']);
  });
});

describe('the response_url of a button', () => {
  async function afterPress() {
    const started = await afterCommand();
    const { app, url, owner } = started;
    await app.respond(url, { text: 'ask', blocks: [section('Shall I?'), actions(button('Yes'))] });
    await owner.presses('Yes');
    return { ...started, pressUrl: app.last().response_url };
  }

  it('replaces the message, which stays ephemeral', async () => {
    const { slack, app, owner, pressUrl, brokenRules } = await afterPress();
    expect(await app.respond(pressUrl, { replace_original: true, text: 'Done' })).toEqual(ok);
    expect(owner.messages().map(({ shown, ephemeral }) => [shown, ephemeral])).toEqual([['Done', true]]);
    await app.respond(pressUrl, { replace_original: true, text: 'For all?', response_type: 'in_channel' });
    slack.as('vera').doesNotSee('For all?');
    expect(brokenRules()).toEqual(['stays_ephemeral']);
  });
});
