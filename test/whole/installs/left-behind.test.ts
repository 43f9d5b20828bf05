import { expect, test } from 'vitest';
import { TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { startInstalls } from '../../support/installs.ts';
import { startTeam, type Team } from '../../support/team.ts';

const USER = 'U0OPERATOR';

/** What an older version doesn't erase. */
async function leaveBehind({ app }: Team): Promise<void> {
  const { homes, serverNotes } = app.ports;
  await homes.put(TEAM.id, USER, { channelId: 'D1', page: 0, openedAt: 0 });
  const note = { serverId: 1, label: 'web-1', text: 'billing', notedBy: USER, notedAt: 0 };
  await serverNotes.put(TEAM.id, note);
}

async function isLeft({ app }: Team): Promise<readonly boolean[]> {
  const { homes, serverNotes } = app.ports;
  const notes = await serverNotes.list(TEAM.id);
  return [(await homes.find(TEAM.id, USER)) !== undefined, notes.length > 0];
}

const isInstalled = async ({ app }: Team) => (await app.ports.installationStore.find(TEAM.id)) !== undefined;

test('what an older process left behind after an uninstall is erased by a newer one', async () => {
  await using team = await startInstalls();
  await team.install(team.first);
  await team.first.uninstallApp();
  await expect.poll(() => isInstalled(team)).toBe(false);
  await leaveBehind(team);
  await team.restart();
  await expect.poll(() => isLeft(team)).toEqual([false, false]);
  await team.install(team.first);
  await leaveBehind(team);
  await team.restart();
  await team.first.as('olga').in('#ops').types('/vps access');
  await team.first.as('olga').in('#ops').sees('Roles');
  expect(await isLeft(team)).toEqual([true, true]);
});

test('an app with a token in its settings erases nothing: it serves a workspace without an installation', async () => {
  await using team = await startTeam();
  await leaveBehind(team);
  await team.restart();
  // Nothing of it is even begun.
  expect(team.app.ports).toMatchObject({ watchTokens: undefined });
  expect(await isLeft(team)).toEqual([true, true]);
});
