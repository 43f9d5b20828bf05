import { describe, expect, it } from 'vitest';
import { createChannels } from '../../../src/slack/directory.ts';
import type { SlackAnswer } from '../../../src/slack/slack-api.ts';
import { handClock } from '../support/hand-clock.ts';
import { clientsOf } from '../support/partial-slack.ts';

const look = (answer: SlackAnswer<{ channel: unknown }>) =>
  createChannels(clientsOf({ findChannel: async () => answer }), handClock().system).look('T1', 'C1');

describe('a channel', () => {
  it.each<[string | undefined, SlackAnswer<{ channel: unknown }>]>([
    ['there', { ok: true, channel: { id: 'C1', is_archived: false } }],
    ['there', { ok: true, channel: { id: 'C1' } }],
    ['archived', { ok: true, channel: { id: 'C1', is_archived: true } }],
    ['unknown', { ok: false, error: 'channel_not_found' }],
    [undefined, { ok: false, error: 'missing_scope' }],
    [undefined, { ok: false, error: 'WebAPIRequestError' }],
    [undefined, { ok: true, channel: undefined }],
  ])('is %s when Slack answers %j', async (expected, answer) => {
    expect(await look(answer)).toBe(expected);
  });

  it('is waited for two seconds at most', async () => {
    const { system, pass } = handClock();
    const channels = createChannels(clientsOf({ findChannel: () => new Promise(() => {}) }), system);
    const looked = channels.look('T1', 'C1');
    await pass(2000);
    expect(await looked).toBeUndefined();
  });

  it('is looked up each time: it may have been archived a moment ago', async () => {
    let is_archived = false;
    const slack = clientsOf({ findChannel: async () => ({ ok: true, channel: { is_archived } }) });
    const channels = createChannels(slack, handClock().system);
    expect(await channels.look('T1', 'C1')).toBe('there');
    is_archived = true;
    expect(await channels.look('T1', 'C1')).toBe('archived');
  });
});

describe('a channel that is', () => {
  it.each<[string, boolean | undefined, SlackAnswer<{ channel: unknown }>]>([
    ['not shared with another organization', false, { ok: true, channel: { is_ext_shared: false } }],
    ['shared with another organization', true, { ok: true, channel: { is_ext_shared: true } }],
    [
      'about to be shared',
      true,
      { ok: true, channel: { is_ext_shared: false, is_pending_ext_shared: true } },
    ],
    ['described without a word on sharing', undefined, { ok: true, channel: { id: 'C1' } }],
    ['hidden from the app', undefined, { ok: false, error: 'channel_not_found' }],
    ['not readable without another scope', undefined, { ok: false, error: 'missing_scope' }],
  ])('%s is looked up once a minute, with the answer %s to whether it is shared', async (_name, expected, answer) => {
    let asked = 0;
    const findChannel = async () => {
      asked += 1;
      return answer;
    };
    const { system, pass } = handClock();
    const channels = createChannels(clientsOf({ findChannel }), system);
    expect(await channels.isShared('T1', 'C1')).toBe(expected);
    expect(await channels.isShared('T1', 'C1')).toBe(expected);
    expect(asked).toBe(1);
    await pass(60_000);
    await channels.isShared('T1', 'C1');
    expect(asked).toBe(2);
  });
});
