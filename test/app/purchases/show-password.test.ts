import { expect, test } from 'vitest';
import { createEntry } from '../../../src/core/entry.ts';
import { showPassword } from '../../../src/purchases/passwords.ts';
import type { HeldPassword } from '../../../src/purchases/ports.ts';
import { open, T0 } from '../../store/support.ts';
import { makePorts } from '../support/make-ports.ts';
import { holdPassword } from './support/held-password.ts';

const callerOf = (userId: string) =>
  ({ actor: { workspaceId: 'T1', userId, channelId: 'C1' }, surface: 'command' }) as const;

test('two accounts may each have a server with the same ID: its creator sees their own root password only', async () => {
  const store = await open('sqlite::memory:');
  await store.workspaces.put({ id: 'T1', name: 'Acme' }, T0);
  const before = await holdPassword(store, { creatorId: 'U1', label: 'web-1', serverId: 7 });
  // The workspace has connected another account since, whose server 7 is this one.
  const since = await holdPassword(store, { creatorId: 'U2', label: 'db-1', serverId: 7 });
  const entry = createEntry(makePorts(store));
  for (const [userId, label, own] of [
    ['U1', 'web-1', before],
    ['U2', 'db-1', since],
  ] as const) {
    for (const ref of [{ typed: label }, { typed: '7' }, { id: 7 }]) {
      const shown: string[] = [];
      const show = async ({ password }: HeldPassword) => shown.push(password.reveal()) > 0;
      await entry.execute(showPassword, { ref, show }, callerOf(userId));
      expect(shown).toEqual([own.password]);
    }
  }
});
