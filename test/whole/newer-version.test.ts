import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import type { Log } from '../../src/log.ts';
import { TEAM, USERS } from '../../src/sandbox/slack/workspace.ts';
import { realSystem } from '../../src/system.ts';
import { askDelete, startRuledTeam, TWO_PERSONS } from '../support/ruled-team.ts';
import { startTeam, type Team } from '../support/team.ts';

/** Writes into the database of a team as a newer process beside it would. */
function writeAsNewer({ environment }: Pick<Team, 'environment'>, text: string): void {
  const db = new DatabaseSync((environment.DATABASE_URL ?? '').replace('sqlite:', ''));
  db.exec(text);
  db.close();
}

/** Collects what goes wrong. */
function keepTroubles() {
  const troubles: string[] = [];
  const keep = (words: string, fields = {}) => void troubles.push(`${words} ${JSON.stringify(fields)}`);
  const log: Log = { debug() {}, info() {}, warn: keep, error: keep };
  return { log, troubles };
}

const NEWER_ORDER = `insert into operations
  (id, workspace_id, actor_id, kind, purchase, claim, state, known_ids, has_password, needs_person, created_at, told_at, due_at,
   lease_owner, lease_until, sent_by, attempt, key_generation, send_by, account, looked_ms, is_late)
  values ('01NEWER', '${TEAM.id}', '${USERS.mara.id}', 'resize', '{"kind":"resize"}', '', 'prepared', '[]', 0, 0, 1, 0, 1,
   '', 0, '', 0, 1, 1, '', 0, 0)`;
const ORDER = '/vps create plan=small location=ams image=debian-13 label=web-1';

test('an order of a newer version is left to that version; until it ends, no other order is placed, and users are told why', async () => {
  const { log, troubles } = keepTroubles();
  await using team = await startTeam({ engine: 'sqlite', log });
  writeAsNewer(team, NEWER_ORDER);
  const manager = team.slack.as('mara').in('#ops');
  await manager.types('/vps status');
  await manager.sees('orders that only a newer version of the app can read');
  await manager.types(ORDER);
  await manager.sees('Create and pay');
  await manager.presses('Create and pay');
  await manager.sees(
    'only a newer version of the app can read. Try again once your admin has updated the app',
  );
  await manager.sees('was not created, and nothing was charged');
  expect(team.hosting.requests({ operation: 'create' })).toEqual([]);
  // The newer version has finished it.
  writeAsNewer(team, `update operations set state = 'settled' where id = '01NEWER'`);
  manager.overlooksOldMessages();
  await manager.types(ORDER);
  await manager.sees('Create and pay');
  await manager.presses('Create and pay');
  await manager.sees(/(was|is being) created \(ID/);
  expect(team.hosting.charges(team.account)).toHaveLength(1);
  expect(troubles.filter((words) => words.includes('background work failed'))).toEqual([]);
});

test('approving a request that a newer version has altered is refused with an explanation, and nothing is deleted', async () => {
  await using team = await startRuledTeam(TWO_PERSONS, { engine: 'sqlite' });
  team.hosting.seedServers(team.account, 1, 'web');
  await askDelete(team);
  writeAsNewer(team, `update approvals set deed = json_set(deed, '$.keepsDisk', json('true'))`);
  await team.owner.presses('Approve');
  await team.owner.sees(
    'This was saved by a newer version of the app, and this version can’t read it. Nothing was changed.',
  );
  expect(team.hosting.requests({ operation: 'delete' })).toEqual([]);
});

test('a setting with a value that only a newer version knows makes the app refuse what depends on it, with an explanation', async () => {
  await using team = await startTeam({ engine: 'sqlite' });
  writeAsNewer(
    team,
    `update workspaces set settings = '{"approval":{"createAbove":{"perMonth":5}}}' where id = '${TEAM.id}'`,
  );
  const owner = team.slack.as('olga').in('#ops');
  await owner.types('/vps settings');
  await owner.sees('This was saved by a newer version of the app');
  owner.overlooksOldMessages();
  await owner.types('/vps list');
  await owner.sees('There are no servers');
  await owner.types(ORDER);
  await owner.sees('This was saved by a newer version of the app');
  expect(team.hosting.requests({ operation: 'create' })).toEqual([]);
});

test('the audit log shows entries with words that this version doesn’t have', async () => {
  await using team = await startTeam({ engine: 'sqlite' });
  const entry = {
    ...{ at: realSystem.now(), workspaceId: TEAM.id, actorId: USERS.mara.id, actId: 'act' },
    ...{ surface: 'workflow', action: 'resize', outcome: 'handed_over', label: 'web-1' },
  };
  // As a newer version would: this one's types don't allow it.
  await team.app.ports.audit.add(entry as never);
  const owner = team.slack.as('olga').in('#ops');
  await owner.types('/vps audit');
  await owner.sees('tried to do resize: handed over');
});
