import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../src/context.ts';
import { Secret } from '../../src/core/secret.ts';
import { DatabaseUnusable } from '../../src/db/database.ts';
import type { Vault } from '../../src/db/vault.ts';
import { NO_KEY } from '../../src/workflows/run.ts';
import { createEmptyDatabase, postgresUrl } from '../support/postgres.ts';
import { vaultNamed, vaultOf } from './audit-support.ts';
import { type Place, places } from './places.ts';
import {
  entry,
  makeFolder,
  markSent,
  NO_ANSWER,
  newApproval,
  newCreate,
  open,
  readBytes,
  settleCreate,
  stillSystem,
  T0,
} from './support.ts';

/** A database with its tables, before any key was used. */
async function makeEmpty(make: () => Promise<Place>): Promise<Place> {
  const place = await make();
  await (await place.open()).close();
  await place.sql("delete from facts where kind = 'key'");
  return place;
}

/** Stores one text of each kind that is ever sealed, and returns the place of each. */
async function storeEverySecret(openWith: (vault: Vault) => Promise<Store>): Promise<readonly string[]> {
  const places = new Set<string>();
  const vault = vaultOf('k1');
  const watched: Vault = {
    ...vault,
    seal: (plain, place) => {
      places.add(`${place.table}.${place.column}`);
      return vault.seal(plain, place);
    },
  };
  const store = await openWith(watched);
  await store.apiKeys.put('T1', new Secret('api-key'), 'U1', T0);
  await store.replyUrls.store('form', 'T1', new Secret('https://reply.test'), T0 + 1000);
  await settleCreate(store, newCreate('web-1'), { serverId: 1, password: new Secret('password-1') });
  await store.requests.requestApproval(newApproval(), entry());
  const unclear = newCreate('web-2');
  await store.ledger.prepare(unclear);
  const { account } = (await store.apiKeys.find('T1')) ?? {};
  await markSent(store, unclear.id, T0, [], account);
  const sealedAnswer = new Secret('{"odd":"answer"}');
  await store.ledger.markUnconfirmed(unclear.id, { reason: NO_ANSWER, sealedAnswer }, entry());
  const tokens = { bot: new Secret('xoxb-token') };
  const facts = { id: 'T1', isOrg: false, name: 'Acme', installedBy: 'U1', installedAt: T0 };
  await store.installationStore.install({ ...facts, tokens });
  const run = { id: 'run', workspaceId: 'T1', executionId: 'Fx1', action: 'reboot', label: 'web-1' } as const;
  const received = { ...run, key: NO_KEY, channelId: 'C1', receivedAt: T0 } as const;
  await store.workflowRuns.receive(received, new Secret('xwfp-token'));
  await store.close();
  return [...places];
}

async function readPassword(store: Store): Promise<string | undefined> {
  const [held] = await store.passwords.listHeld('T1');
  return (await store.passwords.find(held?.operationId ?? ''))?.password.reveal();
}

const keyUseOf = async ({ sealed }: Store) => sealed.listKeyUse((await sealed.openAll()).encrypts);

const USED = {
  'API keys': 1,
  'root passwords': 1,
  'answers to orders': 1,
  'Slack tokens': 1,
  'workflow tokens': 1,
  'reply addresses': 1,
};

describe.each(places)('what is encrypted, on $name', ({ make }) => {
  const openedBy = (place: Place) => (vault: Vault) => place.open({ vault });

  test('is encrypted again under the first key, whatever its kind, and then opens without the old one', async () => {
    const openWith = openedBy(await makeEmpty(make));
    const places = await storeEverySecret(openWith);
    expect(places).toHaveLength(Object.keys(USED).length);
    const both = await openWith(vaultOf('k2', 'k1'));
    const [second, first] = await keyUseOf(both);
    expect(second).toMatchObject({ keyId: 'k2', encrypts: {}, names: 0 });
    expect(first).toMatchObject({ keyId: 'k1', isMissing: false, encrypts: USED, names: 2 });
    expect(await both.sealed.reseal(() => undefined)).toBe(places.length);
    expect(await both.sealed.reseal(() => undefined)).toBe(0);
    const [now, before] = await keyUseOf(both);
    expect(now).toMatchObject({ encrypts: USED, names: 2 });
    expect(before).toMatchObject({ keyId: 'k1', encrypts: {}, names: 0 });
    expect(before?.signs).toBeGreaterThan(0);
    await both.close();

    const alone = await openWith(vaultOf('k2'));
    expect(alone.notes).toEqual([]);
    expect((await alone.sealed.openAll()).unopened).toEqual([]);
    expect((await alone.apiKeys.find('T1'))?.key.reveal()).toBe('api-key');
    expect((await alone.replyUrls.use('form', T0))?.reveal()).toBe('https://reply.test');
    expect((await alone.installationStore.find('T1'))?.tokens.bot.reveal()).toBe('xoxb-token');
    expect(await readPassword(alone)).toBe('password-1');
    const { account } = (await alone.apiKeys.find('T1')) ?? {};
    expect(await alone.ledger.listUnresolvedCreates(account ?? [''], 'T9')).toHaveLength(1);
  });

  test('is not put back if it was replaced since it was read', async () => {
    const openWith = openedBy(await makeEmpty(make));
    await storeEverySecret(openWith);
    const vault = vaultOf('k2', 'k1');
    const replaced: Promise<void>[] = [];
    // Called after the row was read, and before it is written.
    const seal: Vault['seal'] = (plain, place) => {
      if (plain === 'api-key') replaced.push(store.apiKeys.put('T1', new Secret('new-key'), 'U2', T0));
      return vault.seal(plain, place);
    };
    const store = await openWith({ ...vault, seal });
    await store.sealed.reseal(() => undefined);
    await Promise.all(replaced);
    expect(replaced.length).toBeGreaterThan(0);
    expect((await store.apiKeys.find('T1'))?.key.reveal()).toBe('new-key');
    expect((await store.sealed.openAll()).unopened).toEqual([]);
  });
});

test('the database files contain nothing in plain text of what is encrypted', async () => {
  const folder = makeFolder();
  await storeEverySecret((vault) => open(`sqlite:${folder}/vps.sqlite`, { vault }));
  const bytes = readBytes(folder);
  expect(bytes.includes('web-1')).toBe(true);
  const secrets = 'api-key https://reply.test password-1 {"odd":"answer"} xoxb-token xwfp-token'.split(' ');
  expect(secrets.filter((secret) => bytes.includes(secret))).toEqual([]);
});

test('a rotation that an app with the old key keeps undoing is never audited as done', async () => {
  const path = `${makeFolder()}/vps.sqlite`;
  const openWith = (vault: Vault) => open(`sqlite:${path}`, { vault });
  await storeEverySecret(openWith);
  const old = new DatabaseSync(path);
  onTestFinished(() => old.close());
  const vault = vaultOf('k2', 'k1');
  let undone = 0;
  const seal: Vault['seal'] = (plain, place) => {
    if (plain === 'api-key') {
      old.exec(`update api_keys set sealed = '${vaultOf('k1').seal(plain, place)}'`);
      undone++;
    }
    return vault.seal(plain, place);
  };
  const store = await openWith({ ...vault, seal });
  await store.sealed.reseal(() => undefined);
  expect(undone).toBe(5);
  const rotations = await store.audit.list({ workspaceId: 'T1', actions: ['key_rotate'], limit: 9 });
  expect(rotations.map(({ outcome }) => outcome)).toEqual(['started']);
});

const [ANOTHER, NONE] = [/has a different key "k1"/, /has none of the keys that .+ \(k1\)/];

describe.each(places)('the keys of a database on $name', ({ make }) => {
  test('are checked before anything can be sealed, also by a program beside the app', async () => {
    const place = await makeEmpty(make);
    const openWith = (vault: Vault, lock = true) => place.open({ vault, lock });
    await expect(openWith(vaultOf('k1'), false)).rejects.toThrow(
      /begins with the key "k1", which the app hasn't used/,
    );
    await (await openWith(vaultOf('k1'))).close();
    await (await openWith(vaultOf('k1'), false)).close();
    for (const lock of [true, false]) {
      await expect(openWith(vaultNamed('k1'), lock)).rejects.toThrow(ANOTHER);
      await expect(openWith(vaultOf('k2'), lock)).rejects.toThrow(NONE);
    }
    await expect(openWith(vaultOf('k2', 'k1'), false)).rejects.toThrow(/begins with the key "k2"/);
    await (await openWith(vaultOf('k2', 'k1'))).close();
    for (const ring of [['k2', 'k1'], ['k2'], ['k1', 'k3']])
      await (await openWith(vaultOf(...ring), false)).close();
    expect(await place.sql("select id from facts where kind = 'key' order by id")).toEqual([
      { id: 'k1' },
      { id: 'k2' },
    ]);
  });
});

test.skipIf(!postgresUrl)(
  'when processes start at once with different keys, only those that have the same key start',
  async () => {
    const url = await createEmptyDatabase();
    const rings = [vaultOf('k1'), vaultNamed('k1'), vaultOf('k1'), vaultNamed('k1'), vaultOf('k2')];
    const starts = await Promise.allSettled(
      rings.map((vault) => open(url, { vault, system: { ...stillSystem, sleep: async () => undefined } })),
    );
    const failed = starts.flatMap((start) => (start.status === 'rejected' ? [start.reason] : []));
    expect([2, 1]).toContain(starts.length - failed.length);
    for (const error of failed) {
      expect(error).toBeInstanceOf(DatabaseUnusable);
      expect(error.message).toMatch(/^ENCRYPTION_KEYS has /);
    }
    const after = await Promise.allSettled(rings.map((vault) => open(url, { vault })));
    expect(after.map(({ status }) => status)).toEqual(starts.map(({ status }) => status));
  },
);
