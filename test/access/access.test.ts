import { beforeEach, describe, expect, test } from 'vitest';
import { parseSettings } from '../../src/account/workspaces.ts';
import type { Store } from '../../src/context.ts';
import { money } from '../../src/core/money.ts';
import { DEFAULT_SETTINGS } from '../../src/core/settings.ts';
import { engines, entry, newGrant, T0 } from '../db/support.ts';

describe.each(engines)('workspaces on $name', ({ make }) => {
  test('have default settings until an owner changes them, and keep them when renamed', async () => {
    const { workspaces } = await make();
    await workspaces.put({ id: 'T1', name: 'Acme' });
    expect(await workspaces.find('T1')).toEqual({ id: 'T1', name: 'Acme', settings: DEFAULT_SETTINGS });
    const settings = {
      announces: false,
      approval: { ...DEFAULT_SETTINGS.approval, delete: true },
      budget: { workspace: money(5000), person: money(0) },
      channelId: 'C1',
    };
    expect(await workspaces.changeSettings('T1', DEFAULT_SETTINGS, settings)).toBe(true);
    await workspaces.put({ id: 'T1', name: 'Acme 2' });
    expect(await workspaces.find('T1')).toEqual({ id: 'T1', name: 'Acme 2', settings });
    expect(await workspaces.changeSettings('T1', settings, DEFAULT_SETTINGS)).toBe(true);
    expect((await workspaces.find('T1'))?.settings).toEqual(DEFAULT_SETTINGS);
    expect(await workspaces.find('T2')).toBeUndefined();
  });
});

describe('stored settings', () => {
  test.each([
    ['a version that knew less', { announces: false }, { announces: false }],
    [
      'a version that knew less of a part',
      { approval: { delete: true }, budget: { person: 500 } },
      { approval: { ...DEFAULT_SETTINGS.approval, delete: true }, budget: { person: money(500) } },
    ],
    ['a version that knows more', { theme: 'dark', approval: { reboot: true } }, {}],
  ])('are those that %s wrote', (_, stored, expected) => {
    expect(parseSettings(JSON.stringify(stored))).toMatchObject({ ...DEFAULT_SETTINGS, ...expected });
  });

  test('that can’t be read are an error, not the defaults', () => {
    for (const broken of ['', '[]', '{"freeze":true}', '{"budget":{"person":-1}}'])
      expect(() => parseSettings(broken)).toThrow();
  });
});

const here = { userId: 'U1', channelId: 'C1' };
const roles = (found: readonly { role: string }[]) => found.map(({ role }) => role);

describe.each(engines)('grants on $name', ({ make }) => {
  let store: Store;
  let grants: Store['grants'];
  beforeEach(async () => {
    store = await make();
    grants = store.grants;
  });

  test('are stored as they were granted', async () => {
    for (const more of [{}, { until: T0 + 100 }, { subjectId: 'U2', pattern: 'wéb-*' }]) {
      const grant = newGrant(more);
      const kept = await grants.put(grant);
      expect(kept).toEqual({ ...grant, id: expect.stringMatching(/^[0-9A-Z]{26}$/) });
      expect(await grants.list('T1')).toContainEqual(kept);
    }
  });

  test('for the same servers replace each other, with a new ID', async () => {
    const first = await grants.put(newGrant({ role: 'manager', pattern: 'Web-*' }));
    const second = await grants.put(newGrant({ role: 'viewer', pattern: 'web-*', grantedAt: T0 + 1 }));
    expect(await grants.list('T1')).toEqual([second]);
    expect(await grants.remove('T1', { grantId: first.id })).toEqual([]);
    expect(await grants.remove('T1', { grantId: second.id })).toEqual([second]);
    expect(await grants.remove('T1', { grantId: second.id })).toEqual([]);
    expect(await grants.list('T1')).toEqual([]);
  });

  test('for a time are stored beside a permanent one and other roles; the same role replaces, even to end it sooner', async () => {
    await grants.put(newGrant({ role: 'viewer' }));
    await grants.put(newGrant({ role: 'manager', until: T0 + 10 }));
    await grants.put(newGrant({ role: 'operator', until: T0 + 20, grantedAt: T0 + 1 }));
    expect(roles(await grants.listFor('T1', here, T0))).toEqual(['viewer', 'manager', 'operator']);
    expect(roles(await grants.listFor('T1', here, T0 + 10))).toEqual(['viewer', 'operator']);
    await grants.put(newGrant({ role: 'operator', until: T0 + 5, grantedAt: T0 + 2 }));
    expect(roles(await grants.listFor('T1', here, T0 + 5))).toEqual(['viewer', 'manager']);
    await grants.removeEnded(T0 + 10, () => entry());
    expect(roles(await grants.list('T1'))).toEqual(['viewer']);
  });

  test('that make a user an owner of some servers only are a defect', async () => {
    for (const more of [{}, { until: T0 + 1 }]) {
      const put = grants.put(newGrant({ role: 'owner', pattern: 'web-*', ...more }));
      await expect(put).rejects.toThrow('an owner covers every server');
    }
    expect(await grants.list('T1')).toEqual([]);
  });

  test('that may apply are the user’s, the channel’s and every group’s', async () => {
    await grants.put(newGrant({ role: 'viewer' }));
    await grants.put(newGrant({ role: 'operator', subjectKind: 'channel', subjectId: 'C1' }));
    await grants.put(newGrant({ role: 'manager', subjectKind: 'group', subjectId: 'S1' }));
    await grants.put(newGrant({ role: 'owner', subjectId: 'U2' }));
    await grants.put(newGrant({ role: 'owner', subjectKind: 'channel', subjectId: 'C2' }));
    // The same id of another kind is another subject.
    await grants.put(newGrant({ role: 'owner', subjectKind: 'channel', subjectId: 'U1' }));
    await grants.put(newGrant({ role: 'owner', subjectKind: 'user', subjectId: 'C1' }));
    expect(roles(await grants.listFor('T1', here, T0))).toEqual(['viewer', 'operator', 'manager']);
    expect(roles(await grants.listFor('T1', { userId: 'U1' }, T0))).toEqual(['viewer', 'manager']);
    expect(roles(await grants.listFor('T1', { userId: 'U3' }, T0))).toEqual(['manager']);
  });

  test('count only in their own workspace', async () => {
    const theirs = await grants.put(newGrant({ workspaceId: 'T2', role: 'owner' }));
    await grants.put(newGrant({ workspaceId: 'T2', role: 'owner', subjectKind: 'group', subjectId: 'S1' }));
    expect(await grants.listFor('T1', here, T0)).toEqual([]);
    expect(await grants.list('T1')).toEqual([]);
    expect(await grants.remove('T1', { grantId: theirs.id })).toEqual([]);
    expect(await grants.remove('T1', { subjectKind: 'user', subjectId: 'U1' })).toEqual([]);
    expect(await grants.list('T2')).toHaveLength(2);
  });

  test('of one subject can all be revoked at once', async () => {
    await grants.put(newGrant({ role: 'viewer' }));
    await grants.put(newGrant({ role: 'manager', until: T0 + 1 }));
    await grants.put(newGrant({ role: 'operator', pattern: 'web-*', grantedAt: T0 - 1 }));
    await grants.put(newGrant({ subjectId: 'U2' }));
    await grants.put(newGrant({ subjectKind: 'group' }));
    const removed = await grants.remove('T1', { subjectKind: 'user', subjectId: 'U1' });
    expect(roles(removed)).toEqual(['operator', 'viewer', 'manager']);
    expect(await grants.list('T1')).toHaveLength(2);
  });

  test('that have ended don’t count, and are removed and audited once', async () => {
    for (const workspaceId of ['T2', 'T1']) {
      await grants.put(newGrant({ workspaceId, until: T0 + 10 }));
      await grants.put(newGrant({ workspaceId, until: T0 + 11, subjectId: 'U2' }));
      await grants.put(newGrant({ workspaceId, subjectId: 'U3' }));
    }
    expect(await grants.listFor('T1', here, T0 + 9)).toHaveLength(1);
    expect(await grants.listFor('T1', here, T0 + 10)).toEqual([]);
    expect(await grants.list('T1')).toHaveLength(3);
    const sweep = () =>
      grants.removeEnded(T0 + 10, ({ workspaceId, subjectId }) =>
        entry({ workspaceId, label: subjectId, action: 'access_ended' }),
      );
    await Promise.all([sweep(), sweep()]);
    for (const workspaceId of ['T1', 'T2']) {
      const audited = await store.audit.list({ workspaceId, limit: 9 });
      expect(audited).toMatchObject([{ label: 'U1', action: 'access_ended' }]);
      expect(await grants.list(workspaceId)).toHaveLength(2);
    }
  });

  test('are not removed if their end can’t be audited', async () => {
    await grants.put(newGrant({ until: T0 }));
    const broken = () => entry({ actorId: null as unknown as string });
    await expect(grants.removeEnded(T0, broken)).rejects.toThrow();
    expect(await grants.list('T1')).toHaveLength(1);
  });
});
