import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/context.ts';
import { money } from '../../../src/core/money.ts';
import { DEFAULT_SETTINGS } from '../../../src/core/settings.ts';
import { type DigestContent, NO_DRIFT } from '../../../src/reminders/reminder.ts';
import type { LiveDigest, Snapshot } from '../../../src/reminders/store.ts';
import { engines, T0 } from '../support.ts';

const DAY = '2026-03-02';
const CONTENT: DigestContent = {
  due: [
    {
      serverId: 7,
      label: 'web-1',
      paidUntil: T0 + 5,
      daysLeft: 1,
      urgency: 'high',
      snoozes: [{ kind: 'day', untilDay: '2026-03-04' }],
      price: money(590),
    },
    { serverId: 8, label: 'web-2', paidUntil: T0 + 6, daysLeft: 3, urgency: 'low', snoozes: [] },
  ],
  expired: [
    { serverId: 9, label: 'old', paidUntil: T0 - 5, leftBy: 'U1', isListed: true },
    { serverId: 10, label: 'older', paidUntil: T0 - 6, isListed: false },
  ],
  drift: { ...NO_DRIFT, changed: [{ serverId: 1, label: 'db', before: 'running', now: 'stopped' }] },
  snoozed: 1,
  left: 2,
  isComplete: true,
};
const SNAPSHOT: Snapshot = {
  account: 'a',
  at: T0,
  servers: [
    { id: 7, label: 'web-1', state: 'running', paidUntil: T0 },
    { id: 8, label: 'ü "2"', state: '' },
  ],
};
const live = (day = DAY, more: Partial<LiveDigest> = {}): LiveDigest => ({
  workspaceId: 'T1',
  day,
  card: { channelId: 'C1', ts: `1.${day}` },
  content: CONTENT,
  postedAt: T0,
  ...more,
});

async function post(store: Store, day = DAY, at = T0): Promise<LiveDigest | undefined> {
  expect(await store.digests.claim('T1', day, at)).toBe(true);
  return store.digests.markPosted(live(day, { postedAt: at }), SNAPSHOT);
}

describe.each(engines)('digests on $name', ({ make }) => {
  test('are claimed once a day in each workspace, by however many at once', async () => {
    const { digests } = await make();
    const claims = await Promise.all(Array.from({ length: 10 }, () => digests.claim('T1', DAY, T0)));
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(await digests.claim('T2', DAY, T0)).toBe(true);
    expect(await digests.claim('T1', '2026-03-03', T0)).toBe(true);
    // A clock that was set back a day finds the day claimed.
    expect(await digests.claim('T1', DAY, T0)).toBe(false);
    expect([await digests.isClaimed('T1', DAY), await digests.isClaimed('T1', '2026-03-04')]).toEqual([
      true,
      false,
    ]);
  });

  test('are claimed again only where nothing was posted', async () => {
    const store = await make();
    const { digests } = store;
    await digests.claim('T1', DAY, T0);
    await digests.release('T1', DAY);
    await post(store);
    await digests.release('T1', DAY);
    expect(await digests.claim('T1', DAY, T0)).toBe(false);
  });

  test('come back as they were posted, with the servers that they saw', async () => {
    const store = await make();
    expect(await post(store)).toBeUndefined();
    expect(await store.digests.findLive('T1')).toEqual(live());
    expect(await store.digests.findSnapshot('T1')).toEqual(SNAPSHOT);
    expect(await store.digests.findLive('T2')).toBeUndefined();
  });

  test('are edited until the next one, and only then', async () => {
    const store = await make();
    const { digests } = store;
    await post(store);
    const before = await post(store, '2026-03-03', T0 + 100);
    expect(before).toMatchObject({ day: DAY });
    expect((await digests.findLive('T1'))?.day).toBe('2026-03-03');
    await digests.close('T1', '2026-03-03');
    expect(await digests.findLive('T1')).toBeUndefined();
  });

  test('that were posted, or had no content, say until when; others don’t', async () => {
    const store = await make();
    const { digests } = store;
    expect(await digests.findLastAt('T1')).toBeUndefined();
    await digests.claim('T1', '2026-03-01', T0 - 100);
    await digests.endQuietly('T1', '2026-03-01', { isRead: true, snapshot: SNAPSHOT });
    expect(await digests.findLastAt('T1')).toBe(T0 - 100);
    await digests.claim('T1', DAY, T0);
    expect(await digests.findLastAt('T1')).toBe(T0 - 100);
    await digests.endQuietly('T1', DAY, { isRead: false });
    expect(await digests.findLastAt('T1')).toBe(T0 - 100);
    await post(store, '2026-03-03', T0 + 100);
    expect(await digests.findLastAt('T1')).toBe(T0 + 100);
    await digests.removeBefore(T0);
    expect(await digests.isClaimed('T1', '2026-03-01')).toBe(false);
    expect(await digests.isClaimed('T1', DAY)).toBe(true);
  });

  test('are listed for the workspaces that have chosen a channel', async () => {
    const { workspaces, digests } = await make();
    const digest = { channelId: 'C1', hour: 9, zone: 'Europe/Berlin', daysBefore: [7, 3, 1] };
    for (const id of ['T1', 'T2', 'T3']) await workspaces.put({ id, name: id }, T0);
    await workspaces.changeSettings('T2', DEFAULT_SETTINGS, { ...DEFAULT_SETTINGS, digest });
    await workspaces.changeSettings('T3', DEFAULT_SETTINGS, { ...DEFAULT_SETTINGS, currency: 'EUR' });
    expect(await digests.listWorkspaces()).toEqual([{ workspaceId: 'T2', digest }]);
    expect(await digests.listWorkspaces('T2')).toEqual([]);
    for (let place = 100; place < 350; place++) {
      await workspaces.put({ id: `W${place}`, name: 'w' }, T0);
      await workspaces.changeSettings(`W${place}`, DEFAULT_SETTINGS, { ...DEFAULT_SETTINGS, digest });
    }
    const seen: string[] = [];
    for (
      let page = await digests.listWorkspaces('T2');
      page.length > 0;
      page = await digests.listWorkspaces(seen.at(-1))
    )
      seen.push(...page.map(({ workspaceId }) => workspaceId));
    expect([seen.length, new Set(seen).size]).toEqual([250, 250]);
    await workspaces.changeSettings('T2', { ...DEFAULT_SETTINGS, digest }, DEFAULT_SETTINGS);
    expect((await digests.listWorkspaces())[0]?.workspaceId).toBe('W100');
  });
});
