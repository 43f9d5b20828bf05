import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/context.ts';
import { money } from '../../../src/core/money.ts';
import { Secret } from '../../../src/core/secret.ts';
import { DEFAULT_SETTINGS, type WorkspaceSettings } from '../../../src/core/settings.ts';
import { engines, T0 } from '../support.ts';

describe.each(engines)('workspaces and keys on $name', ({ make }) => {
  let store: Store;
  beforeEach(async () => {
    store = await make();
  });

  describe('workspaces', () => {
    test('have default settings until an owner changes them, and keep them when renamed', async () => {
      const { workspaces } = store;
      await workspaces.put({ id: 'T1', name: 'Acme' }, T0);
      expect(await workspaces.find('T1')).toEqual({ id: 'T1', name: 'Acme', settings: DEFAULT_SETTINGS });
      const settings = {
        announces: false,
        approval: { ...DEFAULT_SETTINGS.approval, delete: true },
        budget: { workspace: money(5000), person: money(0) },
        channelId: 'C1',
      };
      expect(await workspaces.changeSettings('T1', DEFAULT_SETTINGS, settings)).toBe(true);
      await workspaces.put({ id: 'T1', name: 'Acme 2' }, T0);
      expect(await workspaces.find('T1')).toEqual({ id: 'T1', name: 'Acme 2', settings });
      expect(await workspaces.changeSettings('T1', settings, DEFAULT_SETTINGS)).toBe(true);
      expect((await workspaces.find('T1'))?.settings).toEqual(DEFAULT_SETTINGS);
      expect(await workspaces.find('T2')).toBeUndefined();
    });

    test('that don’t exist can’t be changed: no limit is lost silently', async () => {
      await expect(
        store.workspaces.changeSettings('T9', DEFAULT_SETTINGS, DEFAULT_SETTINGS),
      ).rejects.toThrow();
    });

    test('have settings that are not overwritten by a user who saw older ones', async () => {
      const { workspaces } = store;
      await workspaces.put({ id: 'T1', name: 'Acme' }, T0);
      const one = { ...DEFAULT_SETTINGS, announces: false };
      const other = { ...DEFAULT_SETTINGS, channelId: 'C1' };
      const saved = [one, other].map((settings) =>
        workspaces.changeSettings('T1', DEFAULT_SETTINGS, settings),
      );
      const [isFirst, isSecond] = await Promise.all(saved);
      expect(isFirst).toBe(!isSecond);
      expect((await workspaces.find('T1'))?.settings).toEqual(isFirst ? one : other);
    });

    test.each([
      ['a version that knew less', { announces: false }, { announces: false }],
      [
        'a version that knew less of a part',
        { approval: { delete: true }, budget: { person: 500 } },
        { approval: { ...DEFAULT_SETTINGS.approval, delete: true }, budget: { person: money(500) } },
      ],
      ['a version that knows more', { theme: 'dark', approval: { reboot: true } }, {}],
    ])('have the settings that %s wrote', async (_, stored, expected) => {
      await store.workspaces.put({ id: 'T1', name: 'Acme' }, T0);
      await store.workspaces.changeSettings('T1', DEFAULT_SETTINGS, stored as unknown as WorkspaceSettings);
      expect((await store.workspaces.find('T1'))?.settings).toMatchObject({
        ...DEFAULT_SETTINGS,
        ...expected,
      });
    });
  });

  describe('API keys', () => {
    test('are stored for each workspace, replaced and removed', async () => {
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
});
