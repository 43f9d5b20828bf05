import { expect, test } from 'vitest';
import type { AuditEntry } from '../../../src/core/audit-entry.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { startTeam } from '../../support/team.ts';

const DAY_MS = 86_400_000;

test('AUDIT_KEEP_DAYS removes older entries, audits the removal, and leaves a log that verifies', async () => {
  await using team = await startTeam({ settings: { AUDIT_KEEP_DAYS: '30' } });
  const entry = (actId: string, daysAgo: number): AuditEntry => ({
    at: Date.now() - daysAgo * DAY_MS,
    workspaceId: TEAM.id,
    actorId: USERS.olga.id,
    surface: 'command',
    action: 'reboot',
    actId,
    outcome: 'done',
  });
  for (const [actId, daysAgo] of [
    ['old', 40],
    ['older', 31],
    ['kept', 29],
  ] as const) {
    await team.app.ports.audit.add(entry(actId, daysAgo));
  }
  await team.restart();
  const { audit } = team.app.ports;
  const list = () => audit.list({ workspaceId: TEAM.id, limit: 10 });
  await expect
    .poll(async () => (await list()).map(({ action, actorId, outcome }) => [action, actorId, outcome]))
    .toEqual([
      ['audit_prune', 'app', 'done'],
      ['audit_prune', 'app', 'started'],
      ['reboot', USERS.olga.id, 'done'],
    ]);
  expect((await list()).map(({ actId }) => actId)).toContain('kept');
  expect(await audit.verify(TEAM.id)).toMatchObject({ ok: true, pruned: { count: 2 } });
});
