import { expect, test } from 'vitest';
import { createEntry } from '../../../src/core/entry.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { carryOutDelete, confirmDelete } from '../../../src/servers/delete.ts';
import type { DeleteResult } from '../../../src/servers/deletion.ts';
import { triesOf } from '../../attacks/support/tries.ts';
import { startTeam } from '../../support/team.ts';

const PRESSES = triesOf({ short: 3, long: 50 });

test.each([
  0, 300,
])('presses on Delete in one form send one DELETE, %i ms apart from its answer', async (delayMs) => {
  await using team = await startTeam();
  const [id = 0] = team.hosting.seedServers(team.account, 1, 'web');
  const label = team.hosting.listServers(team.account)[0]?.label ?? '';
  if (delayMs > 0) team.hosting.faults.add({ on: 'delete', kind: 'slow', delayMs });
  const entry = createEntry(team.app.ports);
  const actor = { workspaceId: TEAM.id, userId: USERS.mara.id, channelId: 'C1' };
  const shown: DeleteResult['kind'][] = [];
  const show = async ({ kind }: DeleteResult) => void shown.push(kind);
  const press = async (requestId: string) => {
    const caller = { actor, surface: 'modal', requestId } as const;
    const input = { id, label, typedLabel: label, formId: 'F1' };
    await entry.execute(confirmDelete, input, caller);
    await entry.execute(carryOutDelete, { formId: 'F1', show }, caller);
  };
  const outcomes = await Promise.allSettled(Array.from({ length: PRESSES }, (_, at) => press(`R${at}`)));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(shown).toEqual(['gone']);
  expect(team.hosting.requests({ operation: 'delete' })).toHaveLength(1);
});
