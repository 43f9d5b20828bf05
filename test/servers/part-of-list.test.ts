import { expect, test } from 'vitest';
import { createEntry } from '../../src/core/entry.ts';
import { Refusal } from '../../src/core/errors.ts';
import { Secret } from '../../src/core/secret.ts';
import type { ListExtent, Server } from '../../src/core/server.ts';
import { showServer } from '../../src/servers/card.ts';
import { listServers, serverList } from '../../src/servers/list.ts';
import { wordsOfError } from '../../src/words.ts';
import { open, T0 } from '../db/support.ts';
import { makeContext, makeHosting } from '../support/context.ts';

const WEB: Server = { id: 7, label: 'web-1', state: 'running' };
/** An owner's actions on such a list, and how often the owner was told that it is only a part. */
async function startOver(extent: ListExtent, servers: readonly Server[] = [WEB]) {
  const store = await open('sqlite::memory:');
  await store.workspaces.put({ id: 'T1', name: 'Acme' });
  await store.apiKeys.put('T1', new Secret('key'), 'U1', T0);
  const hosting = makeHosting({ fetchServers: async () => ({ servers, extent, unreadableCount: 0 }) });
  const entry = createEntry(makeContext(store, { ownersOf: () => ['U1'], hostingOf: () => hosting }));
  let parts = 0;
  const caller = {
    actor: { workspaceId: 'T1', userId: 'U1' },
    surface: 'command',
    onPartOfList: () => {
      parts += 1;
    },
  } as const;
  return {
    parts: () => parts,
    list: (filter: string) => entry.execute(listServers, { filter }, caller),
    show: (typed: string) =>
      entry.execute(showServer, { ref: { typed } }, caller).catch((error: unknown) => {
        if (error instanceof Refusal) return wordsOfError(error, '');
        throw error;
      }),
  };
}

test.each([
  ['whole', 'No server matches `db-1`.', 0],
  ['maybe_whole', 'No listed server matches `db-1`, but some servers may be missing.', 0],
  ['part', '`db-1` isn’t in the part of the list we received, so we can’t tell whether it exists.', 1],
] as const)('a name that is missing from a list that is %s is refused with no more than that list proves', async (extent, words, parts) => {
  const over = await startOver(extent);
  expect(await over.show('db-1')).toBe(words);
  expect(over.parts()).toBe(parts);
});

test('near names are suggested where the list may be whole, and not where it is known to be a part', async () => {
  expect(await (await startOver('maybe_whole')).show('wbe-1')).toBe(
    'No listed server matches `wbe-1`, but some servers may be missing. Did you mean `web-1`?',
  );
  expect(await (await startOver('part')).show('wbe-1')).not.toContain('web-1');
});

test('a list that may be whole is shown without a warning, and nothing is concluded from a missing server', async () => {
  const over = await startOver('maybe_whole');
  const shown = async (filter: string) => JSON.stringify(serverList(await over.list(filter), filter, 0, T0));
  expect(await shown('')).toContain('1 server');
  expect(await shown('db')).toContain('No listed server matches `db`, but some servers may be missing.');
  expect(over.parts()).toBe(0);
  const empty = await (await startOver('maybe_whole', [])).list('');
  expect(serverList(empty, '', 0, T0).text).toBe('No servers to show.');
});
