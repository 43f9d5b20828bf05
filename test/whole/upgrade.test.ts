import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createVault, parseKeyring } from '../../src/db/vault.ts';
import { TEAM, USERS } from '../../src/sandbox/slack/workspace.ts';
import { realSystem } from '../../src/system.ts';
import { makeFolder } from '../store/support.ts';
import { OLD_OPERATIONS, OLD_PASSWORD, writeFirstRelease } from '../support/first-release.ts';
import { ENCRYPTION_KEY, startTeam } from '../support/team.ts';

test('the app starts on a database of the first release, shows its password, and pays nothing again', async () => {
  const path = join(makeFolder(), 'vps.sqlite');
  await writeFirstRelease({
    ...{ path, workspaceId: TEAM.id, userId: USERS.olga.id, grantee: USERS.mara.id },
    vault: createVault(parseKeyring(ENCRYPTION_KEY)),
    at: realSystem.now(),
  });
  await using team = await startTeam({
    ...{ isConnected: false, hasRoles: false },
    settings: { DATABASE_URL: `sqlite:${path}` },
  });
  const owner = team.slack.as('olga').in('#ops');
  await owner.types('/vps password web-1');
  await owner.sees(OLD_PASSWORD);
  const { ledger } = team.app.ports;
  const stateOf = async (id: string) => (await ledger.find(id))?.state;
  await expect.poll(() => stateOf(OLD_OPERATIONS.prepared)).toBe('refused');
  await expect.poll(() => stateOf(OLD_OPERATIONS.sent)).toBe('unconfirmed');
  expect(team.hosting.requests({ operation: 'create' })).toEqual([]);
  expect(team.hosting.requests({ operation: 'renew' })).toEqual([]);
});
