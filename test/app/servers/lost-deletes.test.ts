import { expect, test } from 'vitest';
import { createEntry } from '../../../src/core/entry.ts';
import { HostingError } from '../../../src/core/errors.ts';
import { Secret } from '../../../src/core/secret.ts';
import type { Server, ServerList } from '../../../src/core/server.ts';
import { carryOutDelete, confirmDelete } from '../../../src/servers/delete-server.ts';
import type { DeleteResult } from '../../../src/servers/deletion.ts';
import { open, T0 } from '../../store/support.ts';
import { makeHosting } from '../support/make-hosting.ts';
import { makePorts } from '../support/make-ports.ts';

const WEB: Server = { id: 7, label: 'web-1', state: 'running' };
const listOf = (servers: readonly Server[], isComplete: boolean): ServerList => ({
  servers,
  extent: isComplete ? 'whole' : 'part',
  unreadableCount: isComplete ? 0 : 1,
});

/** Deletes a server; the answer is lost, and this is what the hosting service lists afterwards. Returns what its user is shown. */
async function loseAnswer(after: ServerList): Promise<readonly DeleteResult[]> {
  const store = await open('sqlite::memory:');
  await store.workspaces.put({ id: 'T1', name: 'Acme' }, T0);
  await store.apiKeys.put('T1', new Secret('key'), 'U1', T0);
  let isSent = false;
  const hosting = makeHosting({
    fetchServers: async () => (isSent ? after : listOf([WEB], true)),
    deleteServer: async (_id, { beforeSend }) => {
      await beforeSend();
      isSent = true;
      throw new HostingError('no_answer', 'maybe');
    },
  });
  const entry = createEntry(makePorts(store, { ownersOf: () => ['U1'], hostingOf: () => hosting }));
  const caller = { actor: { workspaceId: 'T1', userId: 'U1', channelId: 'C1' }, surface: 'modal' } as const;
  const shown: DeleteResult[] = [];
  const input = { id: WEB.id, label: WEB.label, typedLabel: WEB.label, formId: 'F1' };
  await entry.execute(confirmDelete, input, caller);
  const show = async (result: DeleteResult) => void shown.push(result);
  await entry.execute(carryOutDelete, { formId: 'F1', show }, caller);
  return shown;
}

test.each([
  ['a complete list without the server', listOf([], true), { kind: 'gone', actId: 'F1' }],
  [
    'a list that shows it as deleted',
    listOf([{ ...WEB, state: 'Deleted' }], false),
    { kind: 'gone', actId: 'F1' },
  ],
  ['a list that shows it', listOf([WEB], true), { kind: 'unclear', isListed: true }],
  ['an incomplete list without the server', listOf([], false), { kind: 'unclear', isListed: undefined }],
] as const)('a delete without an answer is judged by %s', async (_words, after, result) => {
  expect(await loseAnswer(after)).toMatchObject([result]);
});
