import { beforeEach, describe, expect, test } from 'vitest';
import type { Grant, Store } from '../../src/app/ports.ts';
import { Secret } from '../../src/domain/secret.ts';
import { MOST_TRIES } from '../../src/store/connect-links.ts';
import { engines, T0 } from './support.ts';

describe.each(engines)('who may do what on $name', ({ make }) => {
  let store: Store;
  beforeEach(async () => {
    store = await make();
  });

  describe('workspaces', () => {
    test('announce changes until an owner turns that off, which a new name does not undo', async () => {
      await store.workspaces.put({ id: 'T1', name: 'Acme' }, T0);
      expect(await store.workspaces.find('T1')).toEqual({ id: 'T1', name: 'Acme', announces: true });
      await store.workspaces.setAnnounces('T1', false);
      await store.workspaces.put({ id: 'T1', name: 'Acme 2' }, T0);
      expect(await store.workspaces.find('T1')).toEqual({ id: 'T1', name: 'Acme 2', announces: false });
      expect(await store.workspaces.find('T2')).toBeUndefined();
    });
  });

  describe('API keys', () => {
    test('are kept for each workspace, replaced and removed', async () => {
      const { apiKeys } = store;
      await apiKeys.put('T2', new Secret('other'), 'U2', T0);
      await apiKeys.put('T1', new Secret('first'), 'U1', T0);
      await apiKeys.put('T1', new Secret('second'), 'U2', T0);
      const held = await apiKeys.find('T1');
      expect([held?.key.reveal(), held?.setBy]).toEqual(['second', 'U2']);
      expect(await apiKeys.listWorkspaces()).toEqual(['T1', 'T2']);
      expect([await apiKeys.remove('T1'), await apiKeys.remove('T1')]).toEqual([true, false]);
      expect(await apiKeys.find('T1')).toBeUndefined();
      expect((await apiKeys.find('T2'))?.key.reveal()).toBe('other');
    });
  });

  describe('grants', () => {
    const grant = (more: Partial<Grant> = {}): Grant => ({
      workspaceId: 'T1',
      subjectKind: 'user',
      subjectId: 'U1',
      role: 'viewer',
      grantedBy: 'U9',
      grantedAt: T0,
      ...more,
    });

    test('one for each person in each workspace; the last one counts', async () => {
      await store.grants.put(grant());
      await store.grants.put(grant({ role: 'manager', grantedBy: 'U8', grantedAt: T0 + 2 }));
      await store.grants.put(grant({ subjectId: 'U2', grantedAt: T0 + 1 }));
      await store.grants.put(grant({ workspaceId: 'T2', role: 'owner' }));
      expect(await store.grants.find('T1', 'user', 'U1')).toEqual(
        grant({ role: 'manager', grantedBy: 'U8', grantedAt: T0 + 2 }),
      );
      expect((await store.grants.list('T1')).map(({ subjectId }) => subjectId)).toEqual(['U2', 'U1']);
      expect(await store.grants.remove('T1', 'user', 'U1')).toBe(true);
      expect(await store.grants.remove('T1', 'user', 'U1')).toBe(false);
      expect(await store.grants.find('T1', 'user', 'U1')).toBeUndefined();
      expect(await store.grants.find('T2', 'user', 'U1')).toEqual(
        grant({ workspaceId: 'T2', role: 'owner' }),
      );
    });
  });

  describe('connect links', () => {
    const link = { tokenHash: 'h', workspaceId: 'T1', userId: 'U1', channelId: 'C1', expiresAt: T0 + 100 };

    test('work for one try at a time, and no more once that succeeded', async () => {
      const { connectLinks } = store;
      await connectLinks.put(link);
      expect(await connectLinks.find('h')).toEqual({ ...link, isUsed: false });
      const both = await Promise.all([connectLinks.take('h', T0), connectLinks.take('h', T0)]);
      expect(both.filter(Boolean)).toHaveLength(1);
      expect(await connectLinks.find('h')).toMatchObject({ isUsed: true });
      expect(await connectLinks.take('other', T0)).toBe(false);
    });

    test('may be tried again after a failure, but not for ever', async () => {
      const { connectLinks } = store;
      await connectLinks.put(link);
      for (let tried = 0; tried < MOST_TRIES; tried++) {
        expect(await connectLinks.take('h', T0)).toBe(true);
        await connectLinks.giveBack('h');
      }
      expect(await connectLinks.take('h', T0)).toBe(false);
      expect(await connectLinks.find('h')).toMatchObject({ isUsed: true });
    });

    test('end by themselves', async () => {
      const { connectLinks } = store;
      await connectLinks.put(link);
      expect(await connectLinks.take('h', T0 + 100)).toBe(false);
      await connectLinks.removeExpired(T0 + 99);
      expect(await connectLinks.find('h')).toBeDefined();
      await connectLinks.removeExpired(T0 + 100);
      expect(await connectLinks.find('h')).toBeUndefined();
    });
  });

  describe('signed requests', () => {
    test('are new once, until they are forgotten', async () => {
      const { seenRequests } = store;
      const both = await Promise.all([seenRequests.add('r', T0), seenRequests.add('r', T0 + 1)]);
      expect(both).toEqual([true, false]);
      expect(await seenRequests.add('other', T0 + 5)).toBe(true);
      await seenRequests.removeBefore(T0 + 1);
      expect([await seenRequests.add('r', T0), await seenRequests.add('other', T0)]).toEqual([true, false]);
    });
  });
});
