import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/app/ports.ts';
import type { AuditEntry } from '../../../src/domain/audit-entry.ts';
import type { NewInstallation } from '../../../src/domain/installation.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { LEFT_TABLES } from '../../../src/store/installations/left-behind.ts';
import { triesOf } from '../../attacks/support/tries.ts';
import { engines, entry, newCreate, newGrant, open, stillSystem, T0 } from '../support.ts';

const SECOND = 1000;

const team = (id: string, more: Partial<NewInstallation> = {}): NewInstallation => ({
  id,
  isOrg: false,
  name: id,
  installedBy: 'U1',
  installedAt: T0,
  scopes: ['commands'],
  tokens: { bot: new Secret(`xoxb-${id}`) },
  ...more,
});
const org = (id: string) => team(id, { isOrg: true });

const installedAt =
  (at: number) =>
  (workspaceId: string): readonly AuditEntry[] => [entry({ workspaceId, action: 'install', at })];

async function uninstall({ installationStore }: Store, id: string, at: number): Promise<void> {
  const installation = await installationStore.find(id);
  if (!installation) throw new Error(`${id} is not installed`);
  await installationStore.erase(installation, (workspaceId) => [
    entry({ workspaceId, action: 'uninstall', at }),
  ]);
}

/** What an older version doesn't know, as of that time. */
async function addRows(store: Store, workspaceId: string, at: number): Promise<void> {
  const { serverNotes, homes, workflowKeys, workflowRuns, followedActs } = store;
  const id = stillSystem.newId();
  const noted = { label: 'web-1', text: 'billing', notedBy: 'U1', notedAt: at };
  await serverNotes.put(workspaceId, { serverId: at - T0, ...noted });
  await homes.put(workspaceId, `U${at - T0}`, { channelId: 'D1', page: 0, openedAt: at });
  const key = { id, workspaceId, name: id, hash: id, actions: ['stop'], pattern: '' } as const;
  await workflowKeys.add({ ...key, issuedBy: 'U1', issuedAt: at }, 100);
  const step = { workspaceId, executionId: id, action: 'stop', label: 'web-1' } as const;
  const run = { id, ...step, key: { kind: 'none' }, receivedAt: at } as const;
  await workflowRuns.receive(run, new Secret('xwfp-token'), at);
  const act = { id, workspaceId, action: 'stop', actorId: 'U1', keyGeneration: 1 } as const;
  const server = { serverId: 1, label: 'web-1', standing: 'waiting', hasChanged: false } as const;
  await followedActs.add(act, server, { now: at, dueAt: at });
}

/** How many rows of each kind there are. */
async function countRows(store: Store, workspaceId: string): Promise<readonly number[]> {
  const { serverNotes, workflowKeys, workflowRuns, followedActs, homes } = store;
  const acts = await followedActs.take({ owner: 'test', now: T0 * 2, until: T0 * 2 }, 1000);
  await followedActs.release('test');
  const users = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((seconds) => `U${seconds * SECOND}`);
  const opened = await Promise.all(users.map((user) => homes.find(workspaceId, user)));
  const runs = await workflowRuns.listDue(T0 * 2, 1000);
  return [
    (await serverNotes.list(workspaceId)).length,
    opened.filter((home) => home !== undefined).length,
    (await workflowKeys.list(workspaceId)).length,
    runs.filter((run) => run.workspaceId === workspaceId).length,
    acts.filter((act) => act.workspaceId === workspaceId).length,
  ];
}

const NONE = [0, 0, 0, 0, 0];
const ONE_EACH = [1, 1, 1, 1, 1];

describe.each(engines)('what an older version left behind, on $name', ({ make }) => {
  test('is erased after an uninstall, once, and what an uninstall keeps stays', async () => {
    const store = await make();
    await store.installationStore.install(team('T1'), installedAt(T0));
    await store.ledger.prepare(newCreate('web-1', { id: 'order' }));
    await uninstall(store, 'T1', T0 + 5 * SECOND);
    await addRows(store, 'T1', T0 + SECOND);
    const audited = await store.audit.list({ workspaceId: 'T1', limit: 99 });
    expect(await countRows(store, 'T1')).toEqual(ONE_EACH);
    expect(await store.leftBehind.erase()).toEqual(['T1']);
    expect(await countRows(store, 'T1')).toEqual(NONE);
    expect(await store.leftBehind.erase()).toEqual([]);
    expect(await store.audit.list({ workspaceId: 'T1', limit: 99 })).toEqual(audited);
    expect(await store.audit.verify('T1')).toMatchObject({ ok: true });
    expect(await store.ledger.find('order')).toBeDefined();
    expect(await store.workspaces.find('T1')).toMatchObject({ name: 'T1' });
  });

  test('is erased in every workspace of an organization that uninstalled', async () => {
    const store = await make();
    const { installationStore } = store;
    const installed = await installationStore.install(org('E1'), installedAt(T0));
    for (const id of ['T1', 'T2'])
      await installationStore.serve({ id, name: id }, installed, T0, installedAt(T0));
    await uninstall(store, 'E1', T0 + 5 * SECOND);
    for (const id of ['T1', 'T2']) await addRows(store, id, T0 + SECOND);
    expect(await store.leftBehind.erase()).toEqual(['T1', 'T2']);
  });

  test.each([
    ['where the app is installed', async () => undefined],
    [
      'where the app is installed, whatever the audit says',
      async (store: Store) =>
        store.audit.add(entry({ workspaceId: 'T1', action: 'uninstall', at: T0 + 5 * SECOND })),
    ],
    [
      'where it was installed again',
      async (store: Store) => {
        await uninstall(store, 'T1', T0 + 5 * SECOND);
        await store.installationStore.install(team('T1'), installedAt(T0 + 6 * SECOND));
      },
    ],
    [
      'where an organization serves it since',
      async (store: Store) => {
        await uninstall(store, 'T1', T0 + 5 * SECOND);
        const installed = await store.installationStore.install(org('E1'), installedAt(T0));
        await store.installationStore.serve({ id: 'T1', name: 'T1' }, installed, T0, installedAt(T0));
      },
    ],
    [
      'where its organization has installed the app, and no one has used it there yet',
      async (store: Store) => {
        await store.installationStore.install(team('T1', { enterpriseId: 'E1' }), installedAt(T0));
        await uninstall(store, 'T1', T0 + 5 * SECOND);
        await store.installationStore.install(org('E1'), installedAt(T0));
      },
    ],
    [
      'where it left the installation of its organization, which Slack may say by mistake',
      async ({ installationStore }: Store) => installationStore.stopServing('T1', 'T1'),
    ],
  ])('is none %s', async (_, happen) => {
    const store = await make();
    await store.installationStore.install(team('T1'), installedAt(T0));
    // Only an uninstall somewhere has anything looked at.
    await store.installationStore.install(team('T9'), installedAt(T0));
    await uninstall(store, 'T9', T0 + 5 * SECOND);
    await happen(store);
    await addRows(store, 'T1', T0 + SECOND);
    expect(await store.leftBehind.erase()).toEqual([]);
    expect(await countRows(store, 'T1')).toEqual(ONE_EACH);
  });

  test.each([
    ['', []],
    [', even if a user of another organization has typed "uninstall" there', [{ outcome: 'denied' }]],
  ] as const)('is not looked for in a workspace served by SLACK_BOT_TOKEN, which has no installation%s', async (_, tried) => {
    const store = await make();
    await store.workspaces.put({ id: 'T1', name: 'Acme' }, T0);
    await addRows(store, 'T1', T0 + SECOND);
    for (const more of tried)
      await store.audit.add(entry({ workspaceId: 'T1', action: 'uninstall', at: T0 + 5 * SECOND, ...more }));
    await store.installationStore.install(team('T9'), installedAt(T0));
    await uninstall(store, 'T9', T0 + 5 * SECOND);
    expect(await store.leftBehind.erase()).toEqual([]);
    expect(await countRows(store, 'T1')).toEqual(ONE_EACH);
  });

  test('does not include what was stored, or used, after the uninstall', async () => {
    const store = await make();
    await store.installationStore.install(team('T1'), installedAt(T0));
    await addRows(store, 'T1', T0 + SECOND);
    await uninstall(store, 'T1', T0 + 5 * SECOND);
    await addRows(store, 'T1', T0 + 6 * SECOND);
    const used = { id: 'used', workspaceId: 'T1', name: 'used', hash: 'used', actions: [], pattern: '' };
    await store.workflowKeys.add({ ...used, issuedBy: 'U1', issuedAt: T0 + SECOND }, 100);
    const step = { workspaceId: 'T1', executionId: 'Fx1', action: 'stop', label: 'web-1' } as const;
    const key = { kind: 'key', id: 'used', name: 'used' } as const;
    const run = { id: 'run', ...step, key, receivedAt: T0 + 6 * SECOND } as const;
    await store.workflowRuns.receive(run, undefined, T0);
    const stored = await store.workflowRuns.find('T1', 'run');
    if (!stored) throw new Error('the run is not stored');
    await store.workflowRuns.send(stored, { now: T0 + 6 * SECOND, dueAt: T0 });
    expect(await store.leftBehind.erase()).toEqual([]);
    expect(await countRows(store, 'T1')).toEqual([1, 1, 2, 2, 1]);
  });

  test('never includes keys, roles or settings, whoever stored them', async () => {
    const store = await make();
    await store.installationStore.install(team('T1'), installedAt(T0));
    await uninstall(store, 'T1', T0 + 5 * SECOND);
    await store.grants.put(newGrant({ grantedAt: T0 }));
    await store.apiKeys.put('T1', new Secret('key'), 'U1', T0);
    await addRows(store, 'T1', T0 + SECOND);
    expect(await store.leftBehind.erase()).toEqual(['T1']);
    expect(await store.grants.list('T1')).toHaveLength(1);
    expect((await store.apiKeys.find('T1'))?.key.reveal()).toBe('key');
  });
});

test('whatever was installed and uninstalled, a workspace that is served keeps everything, and so does what was stored later', async () => {
  type Step = readonly ['install' | 'uninstall' | 'rows' | 'token' | 'leave', 'T1' | 'T2' | 'E1'];
  const step = fc.tuple(
    fc.constantFrom('install', 'uninstall', 'rows', 'token', 'leave'),
    fc.constantFrom('T1', 'T2', 'E1'),
  ) as fc.Arbitrary<Step>;
  const store = await open('sqlite::memory:');
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 9 }), async (steps) => {
      run += 1;
      const nameOf = (id: string) => `${id}X${run}`;
      /** When each was last uninstalled, and of what times it has rows. */
      const uninstalled = new Map<string, number>();
      const rows = new Map<string, number[]>();
      const { installationStore } = store;
      for (const [second, [what, which]] of steps.entries()) {
        const at = T0 + (second + 1) * SECOND;
        const id = nameOf(which);
        const isOrg = which === 'E1';
        const installed = await installationStore.find(id);
        if (what === 'install') {
          const made = await installationStore.install(isOrg ? org(id) : team(id), installedAt(at));
          const first = { id: nameOf('T1'), name: 'T1' };
          if (isOrg) await installationStore.serve(first, made, at, installedAt(at));
        }
        if (what === 'leave' && !isOrg) await installationStore.stopServing(id, nameOf('E1'));
        if (what === 'uninstall' && installed) {
          const served = [];
          for (const each of ['T1', 'T2'].map(nameOf))
            if ((await installationStore.findServing(each))?.id === id) served.push(each);
          await uninstall(store, id, at);
          for (const each of served) {
            uninstalled.set(each, at);
            rows.delete(each);
          }
        }
        // Rows of a time in which the workspace is served, by an installation or by a token in the settings.
        const isServed = (await installationStore.findServing(id)) !== undefined;
        if (!isOrg && (what === 'token' || (what === 'rows' && isServed))) {
          await addRows(store, id, at);
          rows.set(id, [...(rows.get(id) ?? []), at]);
        }
      }
      await store.leftBehind.erase();
      for (const id of ['T1', 'T2'].map(nameOf)) {
        const kept = (rows.get(id) ?? []).length;
        expect(await countRows(store, id)).toEqual([kept, kept, kept, kept, kept]);
      }
    }),
    { numRuns: triesOf({ short: 40, long: 1000 }) },
  );
});

test('every table that an uninstall erases is erased by all versions, expires by itself, or is listed here', () => {
  const source = readFileSync('src/store/installations/erase-installation.ts', 'utf8');
  const list = source.slice(source.indexOf('const tables = ['), source.indexOf('];'));
  const erased = [...list.matchAll(/'([a-z_]+)'/g)].map(([, name]) => name);
  const BY_ALL_VERSIONS = ['grants', 'connect_links', 'reply_urls'];
  const ENDING = ['outcome_threads', 'act_messages'];
  expect(erased.sort()).toEqual([...BY_ALL_VERSIONS, ...ENDING, ...LEFT_TABLES].sort());
});
