import { describe, expect, it, test } from 'vitest';
import type { Card } from '../../../src/requests/request.ts';
import { type Message, section, textMessage } from '../../../src/slack/kit/blocks.ts';
import { createPacedEdits, editCards, postCards } from '../../../src/slack/outbox.ts';
import { createNewestFirst } from '../../../src/slack/queues.ts';
import type { SlackAnswer, SlackApi } from '../../../src/slack/slack-api.ts';
import { realSystem } from '../../../src/system.ts';
import { handClock, turn } from '../support/hand-clock.ts';
import { partialSlack } from '../support/partial-slack.ts';

/** Work that ends when it is let go. */
function held() {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { end, wait: () => ended };
}

test('only the newest of the updates that wait for another one is shown', async () => {
  const line = createNewestFirst(handClock().system);
  const shown: string[] = [];
  const first = held();
  const show = (name: string) => async () => shown.push(name) > 0;
  void line.run('U1', () => first.wait().then(show('first')), 0);
  await turn();
  const waiting = ['second', 'third', 'last'].map((name) => line.run('U1', show(name), 0));
  void line.run('U2', show('another user’s'), 0);
  await turn();
  expect(shown).toEqual(['another user’s']);
  first.end();
  expect(await Promise.all(waiting)).toEqual([true, true, true]);
  expect(shown).toEqual(['another user’s', 'first', 'last']);
});

test('an update requested many times is shown once per interval, and a failure doesn’t block the next', async () => {
  const clock = handClock();
  const line = createNewestFirst(clock.system);
  let shown = 0;
  const show = async () => ++shown > 0;
  await expect(line.run('U1', () => Promise.reject(new Error('no')), 1000)).rejects.toThrow('no');
  for (let time = 0; time < 50; time++) void line.run('U1', show, 1000);
  await turn();
  expect(shown).toBe(0);
  const before = line.version('U1');
  await clock.pass(1000);
  expect(shown).toBe(1);
  expect(line.version('U1')).toBe(before + 1);
});

const CARD = { channelId: 'C1', ts: '1.2' };
const HELLO = { text: 'hello', blocks: [] };

/** A Slack that answers edits as it is told, and a clock that the test moves. */
function openEdits(state: { isShared?: boolean | undefined; announces?: boolean } = { isShared: false }) {
  const world = { answer: { ok: true } as SlackAnswer, elapsed: 0, edits: 0, waited: 0 };
  const updateMessage: SlackApi['updateMessage'] = async (_card, _message, isPatient) => {
    world.edits += 1;
    if (isPatient !== false) world.waited += 1;
    return world.answer;
  };
  const unused = new Proxy({}, { get: () => () => Promise.reject(new Error('not used')) });
  const slack: SlackApi = Object.assign(Object.create(unused), { updateMessage });
  const edit = createPacedEdits({
    clients: { of: () => slack },
    channels: Object.assign(Object.create(unused), { isShared: async () => state.isShared }),
    mayAnnounce: async () => state.announces ?? state.isShared === false,
    system: { ...realSystem, elapsed: () => world.elapsed },
  });
  return { world, state, edit: (workspaceId = 'T1') => edit(workspaceId, CARD, HELLO) };
}

test('a message is no longer edited in a shared channel, or once owners have turned announcements off', async () => {
  for (const state of [{ isShared: true }, { isShared: false, announces: false }]) {
    const { world, edit } = openEdits(state);
    expect(await edit()).toEqual({ kind: 'gone' });
    expect(world.edits).toBe(0);
  }
});

test('an edit is retried, and not sent, while Slack doesn’t say whether the channel is shared', async () => {
  const { world, edit } = openEdits({ isShared: undefined });
  expect(await edit()).toMatchObject({ kind: 'later' });
  expect(world.edits).toBe(0);
});

test('a rate limit stops the edits of that workspace alone, for as long as Slack asks', async () => {
  const { world, edit } = openEdits();
  world.answer = { ok: false, error: 'ratelimited', retryAfterMs: 30_000 };
  expect(await edit()).toEqual({ kind: 'later', afterMs: 30_000 });
  world.answer = { ok: true };
  world.elapsed += 10_000;
  expect(await edit()).toEqual({ kind: 'later', afterMs: 20_000 });
  expect(await edit('T2')).toEqual({ kind: 'shown' });
  world.elapsed += 20_000;
  expect(await edit()).toEqual({ kind: 'shown' });
  expect(world).toMatchObject({ edits: 3, waited: 0 });
});

test('edits in the background take at most half of Slack’s limit per minute', async () => {
  const { world, edit } = openEdits();
  const kinds = async () =>
    (await Promise.all(Array.from({ length: 60 }, () => edit()))).map(({ kind }) => kind);
  expect((await kinds()).filter((kind) => kind === 'shown')).toHaveLength(25);
  world.elapsed += 60_000;
  expect((await kinds()).filter((kind) => kind === 'shown')).toHaveLength(25);
});

test('an edit is given up if its message was deleted, and retried after any other error', async () => {
  const { world, edit } = openEdits();
  world.answer = { ok: false, error: 'message_not_found' };
  expect(await edit()).toEqual({ kind: 'gone' });
  world.answer = { ok: false, error: 'TimeoutError' };
  expect(await edit()).toMatchObject({ kind: 'later' });
});

const hello = textMessage('@nora is requesting access');
const native: Message = { text: 'x', blocks: [section('new')], plainBlocks: [section('old')] };
const REFUSED = { ok: false, error: 'message_not_found' } as const;

/** A Slack that posts what `takes` lets through, and notes what was sent to whom. */
function slackThat(takes: (to: string, message: Message) => boolean = () => true) {
  const sent: [to: string, message: Message][] = [];
  const take = <More>(to: string, message: Message, more: More): SlackAnswer<More> => {
    sent.push([to, message]);
    return takes(to, message) ? { ok: true, ...more } : REFUSED;
  };
  const slack = partialSlack({
    post: async (to, message) => take(to, message, { channelId: `D${to}`, ts: `${sent.length + 1}.0` }),
    updateMessage: async ({ channelId, ts }, message) => take(`${channelId} ${ts}`, message, {}),
  });
  return { sent, slack, recipients: () => sent.map(([to]) => to) };
}

describe('cards', () => {
  it('are posted to each recipient once, and identified by channel and timestamp', async () => {
    const { slack, recipients } = slackThat();
    expect(await postCards(['U1', 'U2', 'U1'], hello, slack)).toEqual([
      { channelId: 'DU1', ts: '1.0' },
      { channelId: 'DU2', ts: '2.0' },
    ]);
    expect(recipients()).toEqual(['U1', 'U2']);
  });

  it('are posted to at most ten recipients', async () => {
    const { slack } = slackThat();
    const all = Array.from({ length: 30 }, (_, number) => `U${number}`);
    expect((await postCards(all, hello, slack)).length).toBe(10);
  });

  it('leave out recipients that can’t be reached; no recipient at all is no error', async () => {
    const { slack } = slackThat((to) => to !== 'U1');
    expect(await postCards(['U1', 'U2'], hello, slack)).toEqual([{ channelId: 'DU2', ts: '2.0' }]);
    expect(await postCards(['U1'], hello, slack)).toEqual([]);
    expect(await postCards([], hello, slack)).toEqual([]);
  });

  it('are tried once more without the block that Slack refuses', async () => {
    const { slack, sent } = slackThat((_to, { blocks }) => JSON.stringify(blocks).includes('old'));
    expect(await postCards(['U1'], native, slack)).toEqual([{ channelId: 'DU1', ts: '2.0' }]);
    await editCards([{ channelId: 'D1', ts: '1' }], native, slack);
    expect(sent.map(([, { blocks }]) => blocks)).toEqual([
      native.blocks,
      native.plainBlocks,
      native.blocks,
      native.plainBlocks,
    ]);
  });

  it('are all sent at once, so that a slow one doesn’t delay the others', async () => {
    const waiting: ((card: SlackAnswer<Card>) => void)[] = [];
    const slack = partialSlack({ post: () => new Promise((resolve) => waiting.push(resolve)) });
    const posted = postCards(['U1', 'U2', 'U3'], hello, slack);
    expect(waiting.length).toBe(3);
    for (const resolve of waiting) resolve({ ok: true, channelId: 'D', ts: '1' });
    expect((await posted).length).toBe(3);
  });

  it('are edited in place, even if one is gone', async () => {
    const { slack, recipients } = slackThat((to) => to !== 'D1 1');
    const cards = [
      { channelId: 'D1', ts: '1' },
      { channelId: 'D2', ts: '2' },
    ];
    await editCards(cards, hello, slack);
    expect(recipients()).toEqual(['D1 1', 'D2 2']);
  });
});
