import { beforeEach, describe, expect, test } from 'vitest';
import type { InstallationStore } from '../../../src/app/installations/ports.ts';
import type { Store } from '../../../src/app/ports.ts';
import type { BotTokens, Installation, NewInstallation } from '../../../src/domain/installation.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { declareRestored } from '../../../src/store/declare-restored.ts';
import { places } from '../places.ts';
import { engines, makeFolder, stillSystem, T0, vault } from '../support.ts';

const LOCK = { name: 'renew token T1', owner: 'this process' };
const OTHER = { ...LOCK, owner: 'another process' };

const rotating = (bot: string, expiresAt: number): BotTokens => ({
  bot: new Secret(bot),
  rotation: { expiresAt, refreshToken: new Secret(`refresh-${bot}`) },
});
const acme = (tokens = rotating('a', T0 + 10), id = 'T1'): NewInstallation => ({
  ...{ id, isOrg: false, name: 'Acme', installedBy: 'U1', installedAt: T0, scopes: [], tokens },
});

describe.each(engines)('what is recorded about a refresh token on $name', ({ make }) => {
  let store: Store;
  let installationStore: InstallationStore;
  let installed: Installation;
  beforeEach(async () => {
    store = await make();
    ({ installationStore } = store);
    installed = await installationStore.install(acme(), () => []);
    await store.lockLeases.take(LOCK, 30_000);
  });
  const find = () => installationStore.find('T1');
  const loseLock = async () => {
    await store.lockLeases.release(LOCK);
    await store.lockLeases.take(OTHER, 30_000);
  };

  test('is that it was never sent, after an install', async () => {
    expect(installed).toMatchObject({ mayRefreshBeSpent: false });
    expect(await find()).toMatchObject({ mayRefreshBeSpent: false });
  });

  test('is that it may be used up, from before it is sent until the new tokens are stored', async () => {
    expect(await installationStore.markRefreshSent(installed, LOCK)).toBe(true);
    expect(await find()).toMatchObject({ mayRefreshBeSpent: true, isRefreshRefused: false });
    await installationStore.replaceTokens(installed, rotating('b', T0 + 20));
    expect(await find()).toMatchObject({ mayRefreshBeSpent: false });
  });

  test('does not include anything from before another install', async () => {
    await installationStore.markRefreshSent(installed, LOCK);
    await installationStore.install(acme(), () => []);
    expect(await find()).toMatchObject({ mayRefreshBeSpent: false, generation: 2 });
  });

  test('stays as it was if the token never reached Slack; a lost answer stays recorded', async () => {
    await installationStore.markRefreshSent(installed, LOCK);
    await installationStore.markRefreshUnsent(installed, LOCK);
    expect(await find()).toMatchObject({ mayRefreshBeSpent: false });
    await installationStore.markRefreshSent(installed, LOCK);
    const lost = (await find()) ?? installed;
    await installationStore.markRefreshSent(lost, LOCK);
    await installationStore.markRefreshUnsent(lost, LOCK);
    expect(await find()).toMatchObject({ mayRefreshBeSpent: true });
  });

  test('makes a refusal prove the uninstall if no answer was lost', async () => {
    await installationStore.markRefreshSent(installed, LOCK);
    expect(await installationStore.markRefreshRefused(installed, LOCK)).toBe(true);
    expect(await find()).toMatchObject({ isRefreshRefused: true, mayRefreshBeSpent: false });
  });

  test('makes a refusal prove nothing if an answer was lost', async () => {
    await installationStore.markRefreshSent(installed, LOCK);
    const lost = (await find()) ?? installed;
    await installationStore.markRefreshSent(lost, LOCK);
    expect(await installationStore.markRefreshRefused(lost, LOCK)).toBe(false);
    expect(await find()).toMatchObject({ isRefreshRefused: true, mayRefreshBeSpent: true });
  });

  test('can’t be changed by a process that has lost its lock', async () => {
    await installationStore.markRefreshSent(installed, LOCK);
    await loseLock();
    await installationStore.markRefreshUnsent(installed, LOCK);
    expect(await find()).toMatchObject({ mayRefreshBeSpent: true });
    expect(await installationStore.markRefreshSent(installed, LOCK)).toBe(false);
    expect(await installationStore.markRefreshRefused(installed, LOCK)).toBe(false);
    expect(await find()).toMatchObject({ isRefreshRefused: true, mayRefreshBeSpent: true });
  });

  test('does not let a replaced token be sent', async () => {
    await installationStore.replaceTokens(installed, rotating('b', T0 + 20));
    expect(await installationStore.markRefreshSent(installed, LOCK)).toBe(false);
    expect(await installationStore.markRefreshRefused(installed, LOCK)).toBe(false);
    expect(await find()).toMatchObject({ isRefreshRefused: false, mayRefreshBeSpent: false });
  });
});

describe.each(engines)('an event that can’t be proved, on $name,', ({ make }) => {
  test('is not checked again, and counts as new only once for the same tokens', async () => {
    const { installationStore } = await make();
    const installed = await installationStore.install(acme(), () => []);
    await installationStore.noteRevocation('T1', T0 + 1);
    expect(await installationStore.setRevocationAside(installed, T0 + 1)).toBe(true);
    expect(await installationStore.listRevocations()).toEqual([]);
    await installationStore.noteRevocation('T1', T0 + 2);
    expect(await installationStore.setRevocationAside(installed, T0 + 2)).toBe(false);
    expect(await installationStore.listRevocations()).toEqual([]);
    const again = await installationStore.install(acme(), () => []);
    expect(await installationStore.setRevocationAside(again, T0 + 2)).toBe(true);
  });

  test('leaves a later event, and other tokens, alone', async () => {
    const { installationStore } = await make();
    const installed = await installationStore.install(acme(), () => []);
    await installationStore.noteRevocation('T1', T0 + 2);
    await installationStore.setRevocationAside(installed, T0 + 1);
    expect(await installationStore.listRevocations()).toEqual([{ id: 'T1', revokedAt: T0 + 2 }]);
    await installationStore.replaceTokens(installed, rotating('b', T0 + 20));
    expect(await installationStore.setRevocationAside(installed, T0 + 2)).toBe(false);
    expect(await installationStore.listRevocations()).toHaveLength(1);
  });
});

describe.each(engines)('events that have to be checked, on $name,', ({ make }) => {
  test('are listed a few at once, those that were checked longest ago first', async () => {
    const { installationStore } = await make();
    for (let at = 1; at <= 30; at++) {
      await installationStore.install(acme(undefined, `T${at}`), () => []);
      await installationStore.noteRevocation(`T${at}`, T0 + at);
    }
    const first = await installationStore.listRevocations();
    expect(first.length).toBeLessThan(30);
    expect(first[0]).toEqual({ id: 'T1', revokedAt: T0 + 1 });
    for (const { id } of first) await installationStore.noteRevocationCheck(id, T0 + 100);
    const next = await installationStore.listRevocations();
    expect(next[0]).toEqual({ id: `T${first.length + 1}`, revokedAt: T0 + first.length + 1 });
  });
});

describe.each(places)('on $name, it is unknown whether a refresh token was used up', ({ make }) => {
  test('if it was stored before this version started', async () => {
    const place = await make();
    const before = await place.open();
    await before.installationStore.install(acme(), () => []);
    await before.installationStore.noteRevocation('T1', T0);
    await before.close();
    for (const column of ['unspent_expires_at', 'unproven_revoked_at', 'revocation_checked_at'])
      await place.sql(`alter table installations drop column ${column}`);
    // The migrations after it, too: they run in order.
    for (const table of ['message_commands', 'key_checks']) await place.sql(`drop table ${table}`);
    await place.sql('alter table homes drop column shown');
    for (const table of ['kysely_migration', 'migration_needs'])
      await place.sql(`delete from ${table} where name >= '0020'`);
    const { installationStore } = await place.open({ lock: true });
    expect(await installationStore.find('T1')).toMatchObject({ mayRefreshBeSpent: true });
    expect(await installationStore.listRevocations()).toEqual([{ id: 'T1', revokedAt: T0 }]);
  });

  test('if an older version of the app that runs beside this one stored it', async () => {
    const place = await make();
    const { installationStore } = await place.open();
    const installed = await installationStore.install(acme(), () => []);
    await place.sql('create table before as select unspent_expires_at from installations');
    await installationStore.replaceTokens(installed, rotating('b', T0 + 20));
    // It replaces the tokens, and doesn't know the column.
    await place.sql('update installations set unspent_expires_at = (select unspent_expires_at from before)');
    expect(await installationStore.find('T1')).toMatchObject({ mayRefreshBeSpent: true });
  });

  test('if it comes from a backup: it may have been used since', async () => {
    const place = await make();
    const store = await place.open();
    await store.installationStore.install(acme(), () => []);
    await store.close();
    const { url: databaseUrl, openEngine } = place;
    await declareRestored({
      databaseUrl,
      openEngine,
      spillDir: makeFolder(),
      vault,
      system: stillSystem,
    });
    const { installationStore } = await place.open();
    expect(await installationStore.find('T1')).toMatchObject({ mayRefreshBeSpent: true });
  });
});
