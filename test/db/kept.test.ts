import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../src/context.ts';
import { Secret } from '../../src/core/secret.ts';
import { SEEN_MS } from '../../src/db/kept.ts';
import { engines, makeFolder, open, stillSystem, T0 } from './support.ts';

describe.each(engines)('what is kept until a time on $name', ({ make }) => {
  let store: Store;
  beforeEach(async () => {
    store = await make();
  });

  test('is found by its kind and ID as it was stored last, until it expires', async () => {
    const { kept } = store;
    await kept.put('thread', 'F1', 'T1', { ts: '9.1', isOpen: false }, T0 + 10);
    await kept.put('thread', 'F1', 'T1', { ts: '9.2', isOpen: true }, T0 + 20);
    await kept.put('thread', 'F2', 'T1', { ts: '9.3', isOpen: false }, T0 + 10);
    await kept.put('message', 'F1', 'T1', { channelId: 'C1', ts: '1.5' }, T0 + 11);
    await kept.removeExpired(T0 + 10);
    expect(await kept.find('thread', 'F1')).toEqual({ ts: '9.2', isOpen: true });
    expect(await kept.find('message', 'F1')).toEqual({ channelId: 'C1', ts: '1.5' });
    expect(await kept.find('thread', 'F2')).toBeUndefined();
    expect(await kept.find('message', 'F2')).toBeUndefined();
    await kept.remove('message', 'F1');
    expect(await kept.find('message', 'F1')).toBeUndefined();
    expect(await kept.find('thread', 'F1')).toBeDefined();
  });

  describe('a reply address', () => {
    const url = new Secret('https://hooks.slack.example/commands/T1/1/x');

    test('can be used five times, even all at once', async () => {
      await store.replyUrls.store('r', 'T1', url, T0 + 100);
      const uses = await Promise.all(Array.from({ length: 8 }, () => store.replyUrls.use('r', T0)));
      const revealed = uses.map((use) => use?.reveal());
      expect(revealed.filter((use) => use === url.reveal())).toHaveLength(5);
      expect(revealed.filter((use) => use === undefined)).toHaveLength(3);
    });

    test('expires, and a new one under the same ID can be used five times again', async () => {
      await store.replyUrls.store('r', 'T1', url, T0 + 100);
      for (let use = 0; use < 5; use++) await store.replyUrls.use('r', T0);
      await store.replyUrls.store('r', 'T1', new Secret('fresh'), T0 + 200);
      expect((await store.replyUrls.use('r', T0 + 199))?.reveal()).toBe('fresh');
      expect(await store.replyUrls.use('r', T0 + 200)).toBeUndefined();
      await store.kept.removeExpired(T0 + 199);
      expect(await store.replyUrls.use('r', T0)).toBeDefined();
      await store.kept.removeExpired(T0 + 200);
      expect(await store.replyUrls.use('r', T0)).toBeUndefined();
      expect(await store.replyUrls.use('unknown', T0)).toBeUndefined();
    });
  });

  test('a connect link is given to one of those who take it at once, until it expires', async () => {
    const { connectLinks } = store;
    const link = { tokenHash: 'h', workspaceId: 'T1', userId: 'U1', channelId: 'C1', expiresAt: T0 + 100 };
    await connectLinks.put(link);
    expect(await connectLinks.find('h', T0)).toEqual(link);
    expect(await connectLinks.find('h', T0 + 100)).toBeUndefined();
    expect(await connectLinks.take('h', T0 + 100)).toBeUndefined();
    const both = await Promise.all([connectLinks.take('h', T0), connectLinks.take('h', T0)]);
    expect(both.filter(Boolean)).toEqual([link]);
    expect(await connectLinks.find('h', T0)).toBeUndefined();
    expect(await connectLinks.take('other', T0)).toBeUndefined();
  });

  test('a request is new only once, until it is removed', async () => {
    const { seenRequests, kept } = store;
    const both = await Promise.all([seenRequests.addFirst('r', T0), seenRequests.addFirst('r', T0 + 1)]);
    expect(both.sort()).toEqual([false, true]);
    expect(await seenRequests.addFirst('other', T0 + 5)).toBe(true);
    expect(await seenRequests.addAll(['more', 'other'], T0 + 5)).toBe(false);
    // Either of the two may have been first.
    await kept.removeExpired(T0 + 1 + SEEN_MS);
    expect([await seenRequests.addFirst('r', T0), await seenRequests.addFirst('other', T0)]).toEqual([
      true,
      false,
    ]);
  });
});

test('a database that takes no write is not ready', async () => {
  const path = join(makeFolder(), 'vps.sqlite');
  let pings = 0;
  // The clock moves, so that each ping is one of its own.
  const system = { ...stillSystem, elapsed: () => 10_000 * ++pings };
  const store = await open(`sqlite:${path}`, { system });
  await store.ping();
  // As a full disk does: reading goes on, writing fails.
  const other = new DatabaseSync(path);
  other.exec("create trigger full before update on facts begin select raise(abort, 'disk is full'); end");
  await expect(store.ping()).rejects.toThrow('disk is full');
  other.exec('drop trigger full');
  other.close();
  await store.ping();
});

test('/readyz writes at most once a second', async () => {
  const store = await open('sqlite::memory:');
  const pings = Array.from({ length: 100 }, () => store.ping());
  expect(new Set(pings).size).toBe(1);
  await Promise.all(pings);
});
