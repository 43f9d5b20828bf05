import { expect, it } from 'vitest';
import { keepKey } from '../../../src/app/account/connect-key.ts';
import type { HostingApi } from '../../../src/app/hosting-api.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { stillSystem, T0, vault } from '../../store/fixtures.ts';

it('a key counts from when it was kept, however long it took to try it', async () => {
  const store = await openStore({ databaseUrl: 'sqlite::memory:', vault, system: stillSystem });
  let now = T0;
  const hosting = {
    listServers: async () => {
      now += 9000;
      return [];
    },
  } as unknown as HostingApi;
  const key = new Secret('key');
  await keepKey({ workspaceId: 'T1', key, setBy: 'U1', hosting, apiKeys: store.apiKeys, now: () => now });
  expect(await store.apiKeys.find('T1')).toMatchObject({ setAt: T0 + 9000 });
  await store.close();
});
