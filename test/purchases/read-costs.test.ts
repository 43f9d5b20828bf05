import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../src/context.ts';
import type { Catalog } from '../../src/core/catalog.ts';
import { createEntry } from '../../src/core/entry.ts';
import { money } from '../../src/core/money.ts';
import { Secret } from '../../src/core/secret.ts';
import type { Server } from '../../src/core/server.ts';
import { readCosts } from '../../src/purchases/costs.ts';
import { newCreate, newGrant, open, settleCreate, T0 } from '../db/support.ts';
import { makeContext, makeHosting, wholeList } from '../support/context.ts';

const catalog: Catalog = {
  plans: [{ code: 's1', vcpu: 1, ramMb: 512, diskGb: 10, monthly: money(499) }],
  locations: [],
  images: [],
};

let store: Store;
beforeEach(async () => {
  store = await open('sqlite::memory:');
  for (const id of ['T1', 'T2']) {
    await store.workspaces.put({ id, name: id });
    await store.apiKeys.put(id, new Secret('key'), 'U1', T0);
    await store.grants.put(newGrant({ workspaceId: id, role: 'manager' }));
  }
});

const create = (workspaceId: string, serverId: number) =>
  settleCreate(store, newCreate(`web-${serverId}`, { workspaceId }), { serverId });

const WEB: Server = { id: 1, label: 'web-1', state: 'running' };

function read(servers: readonly Server[], workspaceId = 'T1') {
  const fetchServers = async () => wholeList(servers);
  const hosting = makeHosting({ fetchServers, fetchCatalog: async () => catalog });
  const app = createEntry(makeContext(store, { hostingOf: () => hosting }));
  return app.execute(readCosts, {}, { actor: { workspaceId, userId: 'U1' }, surface: 'command' });
}

describe('the costs', () => {
  test('leave out servers that were deleted', async () => {
    await create('T1', 1);
    await create('T1', 2);
    const costs = await read([
      { ...WEB, state: ' Deleted' },
      { ...WEB, id: 2, label: 'web-2' },
    ]);
    expect(costs.servers.map(({ server }) => server.label)).toEqual(['web-2']);
    expect(costs.monthly).toBe(499);
  });

  test('do not know what another workspace has ordered', async () => {
    await create('T2', 1);
    expect(await read([WEB])).toMatchObject({
      monthly: 0,
      byPlan: [],
      byPerson: [],
      paid: { creates: { count: 0, amount: 0 } },
    });
    expect(await read([WEB], 'T2')).toMatchObject({ monthly: 499 });
  });
});
