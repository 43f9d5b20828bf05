import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/context.ts';
import type { FollowedServer } from '../../../src/servers/follow.ts';
import type { StartedAct } from '../../../src/servers/ports.ts';
import { engines, makeFolder, open, T0 } from '../support.ts';

const ACT: StartedAct = {
  id: 'act-1',
  workspaceId: 'T1',
  action: 'reboot',
  actorId: 'U1',
  channelId: 'C1',
  keyGeneration: 1,
};
const SERVER: FollowedServer = { serverId: 1, label: 'web-1', standing: 'waiting', hasChanged: false };
const MESSAGE = { channelId: 'C1', ts: '1.2' };
const now = T0;
const lease = (owner: string, at = now) => ({ owner, now: at, until: at + 30_000 });
const soon = { now, dueAt: now };

async function follow(
  { followedActs }: Store,
  more: Partial<StartedAct> = {},
  server: Partial<FollowedServer> = {},
) {
  const act = { ...ACT, ...more };
  await followedActs.add(act, { ...SERVER, ...server }, { now, dueAt: now + 60_000 });
  await followedActs.place(act.id, { message: MESSAGE }, soon);
}

describe.each(engines)('followed acts, on $name', ({ make }) => {
  test('are kept with their servers, in order, and with the place of their message', async () => {
    const store = await make();
    const { followedActs } = store;
    await followedActs.add(ACT, SERVER, { now, dueAt: now + 60_000 });
    await followedActs.add(
      ACT,
      { ...SERVER, serverId: 2, label: 'web-2', state: 'off' },
      { now, dueAt: now + 60_000 },
    );
    expect(await followedActs.take(lease('a'), 10)).toEqual([]);
    const thread = { ts: '1.0', isOpen: true };
    await followedActs.place('act-1', { message: MESSAGE, thread }, soon);
    const [act, ...others] = await followedActs.take(lease('a'), 10);
    expect(others).toEqual([]);
    expect(act).toMatchObject({
      ...ACT,
      message: MESSAGE,
      thread,
      since: now,
      passedMs: 0,
      isMeasured: true,
    });
    expect(act?.servers).toEqual([SERVER, { ...SERVER, serverId: 2, label: 'web-2', state: 'off' }]);
  });

  test('belong to one process at a time, and to another one once its lease has ended', async () => {
    const store = await make();
    const { followedActs } = store;
    await follow(store);
    const [act] = await followedActs.take(lease('a'), 10);
    if (!act) throw new Error('nothing was taken');
    expect(await followedActs.take(lease('b'), 10)).toEqual([]);
    expect(await followedActs.take(lease('b', now - 29_000), 10)).toEqual([]);
    const [succeeded] = await followedActs.take(lease('b', now + 31_000), 10);
    expect(succeeded?.id).toBe('act-1');
    expect(await followedActs.save(act, lease('a'), now)).toBe(false);
    expect(await followedActs.end('act-1', 'a')).toBe(false);
    expect(await followedActs.end('act-1', 'b')).toBe(true);
    expect(await store.actMessages.find('act-1')).toBeUndefined();
  });

  test('keep what was seen and reported, and are due again when their time has come', async () => {
    const store = await make();
    const { followedActs } = store;
    await follow(store);
    const [act] = await followedActs.take(lease('a'), 10);
    if (!act) throw new Error('nothing was taken');
    const servers = [
      { ...SERVER, standing: 'there', state: 'running', hasChanged: true, settledMs: 41_000 },
    ] as const;
    const seen = { ...act, servers, passedMs: 41_000, isMeasured: false, told: 'it' };
    expect(await followedActs.save(seen, lease('a'), now + 5000)).toBe(true);
    expect(await followedActs.take(lease('a'), 10)).toEqual([]);
    const [again] = await followedActs.take(lease('a', now + 5000), 10);
    expect(again).toMatchObject({ servers, passedMs: 41_000, isMeasured: false, told: 'it', lookedAt: now });
  });

  test('a later act on the same server supersedes what waits, and no more than that', async () => {
    const store = await make();
    const { followedActs } = store;
    await follow(store);
    await follow(store, { id: 'bought', action: 'renew' });
    await follow(store, { id: 'elsewhere', workspaceId: 'T2' });
    const [first] = await followedActs.take(lease('a'), 1);
    if (!first) throw new Error('nothing was taken');
    await follow(store, { id: 'act-2', action: 'stop', actorId: 'U2' });
    // What the first process has seen since doesn't undo it.
    await followedActs.save({ ...first, servers: [{ ...SERVER, state: 'rebooting' }] }, lease('a'), now);
    const acts = await followedActs.take(lease('a'), 10);
    const standings = acts.map(({ id, servers }) => [id, servers[0]?.standing, servers[0]?.superseded]);
    expect(standings.toSorted()).toEqual([
      ['act-1', 'superseded', { by: 'U2', action: 'stop' }],
      ['act-2', 'waiting', undefined],
      ['bought', 'waiting', undefined],
      ['elsewhere', 'waiting', undefined],
    ]);
  });

  test('are let go by a process that ends', async () => {
    const store = await make();
    const { followedActs } = store;
    await follow(store);
    await followedActs.take(lease('a'), 10);
    await followedActs.release('a');
    expect(await followedActs.take(lease('b'), 10)).toHaveLength(1);
  });

  test('go on when the clock was set back', async () => {
    const store = await make();
    const { followedActs } = store;
    await follow(store);
    await followedActs.take(lease('a'), 10);
    const HOUR = 3_600_000;
    expect(await followedActs.take(lease('b', now - HOUR), 10)).toHaveLength(1);
  });

  test('two processes that take at the same moment don’t get the same one', async () => {
    const store = await make();
    const { followedActs } = store;
    for (const id of ['1', '2', '3', '4']) await follow(store, { id }, { serverId: Number(id) });
    const taken = await Promise.all(['a', 'b'].map((owner) => followedActs.take(lease(owner), 4)));
    const ids = taken.flat().map(({ id }) => id);
    expect(ids.toSorted()).toEqual(['1', '2', '3', '4']);
  });

  test('messages are found until they expire', async () => {
    const { actMessages } = await make();
    await actMessages.put('order', 'T1', MESSAGE, now + 1);
    await actMessages.removeExpired(now);
    expect(await actMessages.find('order')).toEqual(MESSAGE);
    await actMessages.removeExpired(now + 1);
    expect(await actMessages.find('order')).toBeUndefined();
  });
});

test('a restart on SQLite takes over at once', async () => {
  const databaseUrl = `sqlite:${makeFolder()}/vps.sqlite`;
  const killed = await open(databaseUrl);
  await follow(killed);
  await killed.followedActs.take(lease('a'), 10);
  await killed.close();
  const { followedActs } = await open(databaseUrl);
  expect(await followedActs.take(lease('b'), 10)).toHaveLength(1);
});
