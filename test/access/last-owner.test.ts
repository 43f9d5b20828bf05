import { beforeEach, expect, it } from 'vitest';
import { grantAccess, revokeAccess } from '../../src/access/grants.ts';
import type { AppContext, Store } from '../../src/context.ts';
import { createEntry } from '../../src/core/entry.ts';
import { newGrant, open } from '../db/support.ts';
import { makeContext } from '../support/context.ts';
import { until } from '../support/eventually.ts';

let store: Store;
let ports: AppContext;

beforeEach(async () => {
  store = await open('sqlite::memory:');
  await store.workspaces.put({ id: 'T1', name: 'Acme' });
  for (const subjectId of ['U1', 'U2']) await store.grants.put(newGrant({ subjectId, role: 'owner' }));
  ports = makeContext(store);
});

const callerOf = (userId: string) =>
  ({ actor: { workspaceId: 'T1', userId, channelId: 'C1' }, surface: 'command' }) as const;
const owners = async () => (await store.grants.list('T1')).filter(({ role }) => role === 'owner');

/** Both have checked that an owner is left before either of them changes anything. */
function meetBeforeChanging(): void {
  const { grants } = ports;
  let waiting = 0;
  const meet = async () => {
    waiting += 1;
    await until(() => waiting === 2, 1);
  };
  const remove: typeof grants.remove = (...given) => meet().then(() => grants.remove(...given));
  const put: typeof grants.put = (...given) => meet().then(() => grants.put(...given));
  ports = { ...ports, grants: { ...grants, remove, put } };
}

it('one of two owners who revoke each other at the same moment stays an owner', async () => {
  meetBeforeChanging();
  const entry = createEntry(ports);
  const revoke = (by: string, subjectId: string) =>
    entry.execute(revokeAccess, { subjectKind: 'user', subjectId }, callerOf(by));
  const ended = await Promise.allSettled([revoke('U1', 'U2'), revoke('U2', 'U1')]);
  expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(ended.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { code: 'last_owner' },
  });
  expect(await owners()).toHaveLength(1);
});

it('one of two owners who lower each other’s role at the same moment stays an owner', async () => {
  meetBeforeChanging();
  const entry = createEntry(ports);
  const lower = (by: string, subjectId: string) =>
    entry.execute(grantAccess, { subjectKind: 'user', subjectId, role: 'viewer', pattern: '' }, callerOf(by));
  await Promise.allSettled([lower('U1', 'U2'), lower('U2', 'U1')]);
  expect(await owners()).toHaveLength(1);
});

it('the grant of the last owner can’t be revoked by itself, and no grant is revoked twice', async () => {
  const entry = createEntry(ports);
  const idOf = async (userId: string) =>
    (await owners()).find(({ subjectId }) => subjectId === userId)?.id ?? '';
  const [own, others] = [await idOf('U1'), await idOf('U2')];
  const revoke = (grantId: string) => entry.execute(revokeAccess, { grantId }, callerOf('U1'));
  await revoke(others);
  await expect(revoke(others)).rejects.toMatchObject({ code: 'grant_over' });
  await expect(revoke(own)).rejects.toMatchObject({ code: 'last_owner' });
  expect(await owners()).toMatchObject([{ subjectId: 'U1' }]);
});
