import { expect, it } from 'vitest';
import { TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { changesSeen, rawUser } from '../../support/raw-user.ts';
import { startTeam } from '../../support/team.ts';

async function startProtected(options: Parameters<typeof startTeam>[0] = {}) {
  const team = await startTeam(options);
  const [id = 0] = team.hosting.seedServers(team.account, 1, 'db');
  const owner = team.slack.as('olga').in('#ops');
  await owner.types('/vps show db-1');
  await owner.presses('Protect');
  await owner.sees('Protected by @olga');
  return { team, id, owner };
}

it('a protected server can be neither stopped, rebooted nor deleted, by command or by any button', async () => {
  const { team, id } = await startProtected();
  await using _ = team;
  const manager = team.slack.as('mara').in('#ops').overlooksOldMessages();
  for (const [verb, past] of [
    ['stop', 'stopped'],
    ['reboot', 'rebooted'],
    ['delete', 'deleted'],
  ] as const) {
    const words = `db-1 is protected by @olga, so it can’t be ${past}.`;
    await manager.types(`/vps ${verb} db-1`);
    await manager.sees(words);
    if (manager.modal()) await manager.closes();
    manager.overlooksOldMessages();
    // A button of a card from before, or forged: also of an owner, who has to lift the protection first.
    await rawUser(team, 'olga').presses(verb, { id, sure: true });
    await team.slack.as('olga').in('#ops').sees(words);
  }
  await manager.types('/vps show db-1');
  await manager.sees('🔒 Protected by @olga');
  manager.doesNotSee('Reboot');
  manager.doesNotSee('Delete…');
  expect(changesSeen(team)).toEqual([]);
});

it('a submitted delete form is refused when the server was protected since it was opened', async () => {
  await using team = await startTeam();
  const [id = 0] = team.hosting.seedServers(team.account, 1, 'db');
  const manager = team.slack.as('mara').in('#ops');
  await manager.types('/vps delete db-1');
  await manager.fills({ 'To confirm, type db-1': 'db-1' });
  await team.app.ports.serverNotes.put('protection', TEAM.id, {
    serverId: id,
    protectedBy: 'U1',
    protectedAt: 1,
  });
  await manager.presses('Delete');
  await manager.sees('so it can’t be deleted');
  expect(changesSeen(team)).toEqual([]);
});

it('only owners can lift a server’s protection, which is audited', async () => {
  const { team, id, owner } = await startProtected();
  await using _ = team;
  const manager = rawUser(team, 'mara');
  const before = manager.mark();
  await manager.presses('unprotect', { id, on: 'card' });
  await manager.seesChange(before);
  const latest = async () => (await manager.audit())[0];
  await expect.poll(latest).toMatchObject({ action: 'unprotect', outcome: 'denied' });
  await owner.presses('Lift protection');
  await owner.sees('lifted the protection of db-1');
  await team.slack.as('otto').in('#ops').types('/vps reboot db-1');
  await owner.sees('rebooted db-1');
  const entries = await team.app.ports.audit.list({ workspaceId: TEAM.id, serverId: id, limit: 20 });
  const done = entries.filter(({ outcome }) => outcome === 'done').map(({ action }) => action);
  expect(done).toEqual(['reboot', 'unprotect', 'protect']);
});
