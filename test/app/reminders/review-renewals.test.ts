import { expect, onTestFinished, test } from 'vitest';
import { createEntry } from '../../../src/core/entry.ts';
import { Secret } from '../../../src/core/secret.ts';
import type { Server } from '../../../src/core/server.ts';
import { DAY_MS } from '../../../src/core/time.ts';
import { openStore } from '../../../src/db/open-store.ts';
import { reviewRenewals } from '../../../src/reminders/batch.ts';
import { newGrant, stillSystem, T0, vault } from '../../store/fixtures.ts';
import { makeHosting } from '../support/make-hosting.ts';
import { makePorts } from '../support/make-ports.ts';

const LATER: Server = { id: 1, label: 'web-1', state: 'running', paidUntil: T0 + 200 * DAY_MS };
const SOON: Server = { id: 2, label: 'web-2', state: 'running', paidUntil: T0 + DAY_MS };

/** What a manager gets to read, where the hosting API lists these servers. */
async function review(servers: readonly Server[], isComplete: boolean) {
  const store = await openStore({ databaseUrl: 'sqlite::memory:', vault, system: stillSystem });
  onTestFinished(() => store.close());
  await store.workspaces.put({ id: 'T1', name: 'Acme' }, T0);
  await store.apiKeys.put('T1', new Secret('key'), 'U1', T0);
  await store.grants.put(newGrant({ subjectId: 'U1', role: 'manager' }));
  const api = makeHosting({
    fetchServers: async () => ({ servers, extent: isComplete ? 'whole' : 'part', unreadableCount: 0 }),
  });
  const entry = createEntry(makePorts(store, { hostingOf: () => api }));
  const caller = { actor: { workspaceId: 'T1', userId: 'U1' }, surface: 'button' } as const;
  return entry.execute(reviewRenewals, { formId: 'F1' }, caller);
}

test('that nothing has to be renewed is said only of a complete list', async () => {
  await expect(review([LATER], true)).rejects.toMatchObject({ code: 'nothing_to_renew' });
  await expect(review([LATER], false)).rejects.toMatchObject({ code: 'list_incomplete' });
});

test('what an incomplete list shows can be renewed', async () => {
  await expect(review([LATER, SOON], false)).resolves.toMatchObject({ renewals: [{ server: SOON }] });
});
