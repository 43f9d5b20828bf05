import { describe, expect, test } from 'vitest';
import { parseSettings } from '../../../src/account/workspaces.ts';
import { Secret } from '../../../src/core/secret.ts';
import { DatabaseUnusable } from '../../../src/db/engine.ts';
import { createEmptyDatabase, postgresUrl } from '../../support/postgres.ts';
import { places } from '../places.ts';
import { engines, open, stillSystem, T0 } from '../support.ts';
import { vaultNamed, vaultOf } from './audit-support.ts';

test.each(engines)('an API key says who set it, also after it is replaced, on $name', async ({ make }) => {
  const { apiKeys } = await make();
  await apiKeys.put('T1', new Secret('first'), 'U1', T0);
  expect(await apiKeys.find('T1')).toMatchObject({ setBy: 'U1' });
  await apiKeys.put('T1', new Secret('second'), 'U2', T0 + 5);
  expect(await apiKeys.find('T1')).toMatchObject({ setBy: 'U2' });
});

describe('stored settings', () => {
  test('that can’t be read are an error, not the defaults', () => {
    for (const broken of ['', '[]', '{"freeze":true}', '{"budget":{"person":-1}}'])
      expect(() => parseSettings(broken)).toThrow();
  });
});

const [ANOTHER, NONE] = [/has a different key "k1"/, /has none of the keys that .+ \(k1\)/];

describe.each(places)('the keys of a database on $name', ({ make }) => {
  /** A database with its tables, before any key was used. */
  const makeEmpty = async () => {
    const place = await make();
    await (await place.open()).close();
    await place.sql("delete from facts where kind = 'key'");
    return place;
  };

  test('are checked before anything can be sealed, also by a program beside the app', async () => {
    const place = await makeEmpty();
    const openWith = (vault: ReturnType<typeof vaultOf>, lock = true) => place.open({ vault, lock });
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
