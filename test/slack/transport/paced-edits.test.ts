import { expect, test } from 'vitest';
import { createPacedEdits } from '../../../src/slack/outbox.ts';
import type { SlackAnswer, SlackApi } from '../../../src/slack/slack-api.ts';
import { realSystem } from '../../../src/system.ts';

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
