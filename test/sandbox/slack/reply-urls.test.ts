import { describe, expect, it } from 'vitest';
import { makeHandClock } from '../../../src/sandbox/slack/world.ts';
import { actions, button, section, startBoth } from './support/fake-app.ts';

const ok = { status: 200, body: 'ok' };

async function afterCommand(place = '#ops') {
  const clock = makeHandClock();
  const { slack, app } = await startBoth({ clock });
  const owner = slack.as('olga').in(place);
  await owner.types('/vps list');
  const url = app.last().response_url;
  return { slack, app, clock, owner, url, brokenRules: () => slack.brokenRules().map(({ rule }) => rule) };
}

describe('the response_url of a command', () => {
  it('answers to the user only, unless the app says in_channel', async () => {
    const { slack, app, url, owner } = await afterCommand();
    expect(await app.respond(url, { text: 'for you' })).toEqual(ok);
    expect(await app.respond(url, { text: 'for all', response_type: 'in_channel' })).toEqual(ok);
    await owner.sees('for you');
    expect(
      slack
        .as('vera')
        .messages()
        .map(({ shown }) => shown),
    ).toEqual(['for all']);
  });

  it('works where the app is no member, and in a private channel', async () => {
    for (const place of ['#random', '#management', 'dm']) {
      const { app, url, owner } = await afterCommand(place);
      expect(await app.respond(url, { text: 'here', response_type: 'in_channel' })).toEqual(ok);
      await owner.sees('here');
    }
  });

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

  it('is not to be guessed', async () => {
    const { app, url } = await afterCommand();
    const { status } = await app.respond(String(url).replace(/\w$/, 'x'), { text: 'hello' });
    expect(status).toBe(404);
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

  it('can be made to fail', async () => {
    const { slack, app, url } = await afterCommand();
    slack.faults.breakReplyUrls(500, 1);
    expect((await app.respond(url, { text: 'a' })).status).toBe(500);
    expect(await app.respond(url, { text: 'b' })).toEqual(ok);
  });

  it('can be made to accept a post without answering ok', async () => {
    const { slack, app, url, owner } = await afterCommand();
    slack.faults.wordReplyAnswers('');
    expect(await app.respond(url, { text: 'a' })).toEqual({ status: 200, body: '' });
    await owner.sees('a');
    slack.faults.clear();
    expect(await app.respond(url, { text: 'b' })).toEqual(ok);
  });

  it('can be set to refuse a type of block', async () => {
    const { slack, app, url } = await afterCommand();
    slack.faults.refuseBlock('section');
    const refused = await app.respond(url, { text: 'x', blocks: [section('y')] });
    expect(JSON.parse(refused.body)).toMatchObject({ ok: false, error: 'invalid_blocks' });
    slack.faults.clear();
    expect(await app.respond(url, { text: 'x', blocks: [section('y')] })).toEqual(ok);
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

  it('is a fresh one each time', async () => {
    const { app, owner, url, pressUrl } = await afterPress();
    await owner.presses('Yes');
    expect(new Set([url, pressUrl, app.last().response_url]).size).toBe(3);
  });

  it('replaces the message, which stays ephemeral', async () => {
    const { slack, app, owner, pressUrl, brokenRules } = await afterPress();
    expect(await app.respond(pressUrl, { replace_original: true, text: 'Done' })).toEqual(ok);
    expect(owner.messages().map(({ shown, ephemeral }) => [shown, ephemeral])).toEqual([['Done', true]]);
    await app.respond(pressUrl, { replace_original: true, text: 'For all?', response_type: 'in_channel' });
    slack.as('vera').doesNotSee('For all?');
    expect(brokenRules()).toEqual(['stays_ephemeral']);
  });

  it('deletes the message', async () => {
    const { app, owner, pressUrl } = await afterPress();
    expect(await app.respond(pressUrl, { delete_original: true })).toEqual(ok);
    expect(owner.messages()).toEqual([]);
  });

  it('posts another message when it says neither', async () => {
    const { app, owner, pressUrl } = await afterPress();
    await app.respond(pressUrl, { text: 'Beside' });
    expect(owner.messages()).toHaveLength(2);
  });

  it('changes nothing once the ephemeral message is gone', async () => {
    const { app, owner, pressUrl } = await afterPress();
    owner.reloads();
    expect(await app.respond(pressUrl, { replace_original: true, text: 'Done' })).toEqual(ok);
    expect(owner.messages()).toEqual([]);
  });
});
