import { expect, it } from 'vitest';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { createServer, fillDelete } from '../../support/acts.ts';
import { startCpuTimer } from '../../support/clocks.ts';
import { changesSeen, rawUser } from '../../support/raw-user.ts';
import { startTeam } from '../../support/team.ts';

it.concurrent('bare /vps tells an owner what to do first, and others whom to ask', async ({ expect }) => {
  await using team = await startTeam({ isConnected: false });
  await team.owner.types('/vps');
  await team.owner.sees('Connect your hosting account');
  await team.owner.presses('Connect…');
  await team.owner.sees('Enter');
  await team.operator.types('/vps');
  await team.operator.sees('No hosting account is connected');
  team.operator.doesNotSee('Connect…');
  const nora = team.slack.as('nora');
  await nora.types('/vps');
  await nora.sees('You don’t have a role yet');
  await nora.presses('Ask for access');
  await expect.poll(() => nora.modal() !== undefined).toBe(true);
});

it.concurrent('bare /vps shows five servers, recently used first, with the buttons that its user may press', async () => {
  await using team = await startTeam({ servers: 30 });
  const { operator } = team;
  await operator.types('/vps stop web-17');
  await operator.sees('stopped web-17');
  operator.overlooksOldMessages();
  await operator.types('/vps');
  await operator.sees('Showing 5 of 30 servers');
  const shown = operator.screen();
  expect(shown.indexOf('web-17')).toBeGreaterThan(0);
  expect(shown.indexOf('web-17')).toBeLessThan(shown.indexOf('web-1*'));
  operator.doesNotSee('Create a server');
  await operator.presses('Manage');
  await operator.sees('ssh root@');
  await team.manager.types('/vps');
  await team.manager.sees('Create a server…');
});

it.concurrent('bare /vps counts the root passwords that its user has not saved, and shows them', async () => {
  await using team = await startTeam();
  const { manager } = team;
  await createServer(manager);
  manager.overlooksOldMessages();
  await manager.types('/vps');
  await manager.sees('The root password of web-1 isn’t saved yet');
  const owner = team.slack.as('olga').overlooksOldMessages();
  await owner.types('/vps');
  await owner.sees('web-1');
  owner.doesNotSee('root password');
  await manager.presses('Show password');
  await manager.sees(/I[’']ve saved it/);
});

const SERVERS = 5000;
const MOST_MS = 100;

// Timed, so nothing runs beside it.
it.sequential('each letter typed into a menu of 5,000 servers is answered from memory, with under 100 ms of CPU time', async () => {
  await using team = await startTeam({ servers: SERVERS });
  const by = rawUser(team, 'otto');
  await by.types('pick_reboot', '');
  const requests = team.hosting.requests().length;
  let least = Number.POSITIVE_INFINITY;
  for (const letters of ['w', 'we', 'web', 'web-', 'web-4', 'web-43', 'web-432', 'web-4321']) {
    const readMs = startCpuTimer();
    const { response } = await by.types('pick_reboot', letters);
    least = Math.min(least, readMs());
    expect(JSON.parse(response).options.length).toBe(
      letters === 'web-4321' ? 1 : letters === 'web-432' ? 11 : 100,
    );
  }
  expect(least).toBeLessThan(MOST_MS);
  expect(team.hosting.requests()).toHaveLength(requests);
});

async function startNoted() {
  const team = await startTeam({ servers: 2 });
  await team.operator.types(`/vps note web-1 @mara “billing, call <@${USERS.olga.id}|olga> first”`);
  await team.operator.sees('billing, call @olga first');
  return team;
}

it.concurrent('a note is on the card with its contact and its author, pings no one but the contact, and is found by the list', async () => {
  await using team = await startNoted();
  const [id = 0] = team.serverIds;
  const { viewer } = team;
  await viewer.types('/vps show web-1');
  await viewer.sees('Note: billing, call @olga first');
  await viewer.sees('Contact: @mara');
  await viewer.sees('Noted by @otto');
  const { serverNotes } = team.app.ports;
  const notes = await serverNotes.list('note', TEAM.id);
  expect(notes).toEqual([
    expect.objectContaining({ label: 'web-1', text: 'billing, call @olga first', contact: USERS.mara.id }),
  ]);
  for (const filter of ['BILLING', `<@${USERS.mara.id}|mara>`]) {
    viewer.overlooksOldMessages();
    await viewer.types(`/vps list ${filter}`);
    await viewer.sees('1 server matching');
    await viewer.sees('web-1');
  }
  // Another account's server with the same ID doesn't have it.
  for (const note of notes) await serverNotes.put('note', TEAM.id, { ...note, serverId: id, label: 'other' });
  viewer.overlooksOldMessages();
  await viewer.types('/vps show web-1');
  await viewer.sees('Paid until');
  viewer.doesNotSee('billing');
});

it.concurrent('a note can be replaced without its contact, and both removed, but not by a viewer; an invalid one is explained', async ({
  expect,
}) => {
  await using team = await startNoted();
  const { operator } = team;
  const [id = 0] = team.serverIds;
  const noted = async () => await team.app.ports.serverNotes.find('note', TEAM.id, id);
  await team.viewer.types('/vps note web-1 mine');
  await team.viewer.sees('operator');
  expect(await noted()).toMatchObject({ notedBy: USERS.otto.id });
  await operator.types('/vps note web-1');
  await operator.sees('Add some text');
  await operator.types('/vps note web-1 contact=otto');
  await operator.sees('Mention the contact');
  await operator.types(`/vps note web-1 ${'x'.repeat(301)}`);
  await operator.sees('up to 300 characters');
  await operator.types('/vps note web-1 shop');
  await operator.sees('Note: shop');
  expect(await noted()).toMatchObject({ text: 'shop', contact: USERS.mara.id });
  await operator.types('/vps note web-1 contact=none');
  await expect.poll(noted).not.toHaveProperty('contact');
  await operator.types('/vps note web-1 clear');
  await expect.poll(noted).toBeUndefined();
});

it.concurrent('a protected server can be neither stopped, rebooted nor deleted, by command or by any button, until an owner lifts that', async ({
  expect,
}) => {
  await using team = await startTeam();
  const [id = 0] = team.hosting.seedServers(team.account, 1, 'db');
  const { owner, manager } = team;
  await fillDelete(manager, 'db-1');
  await owner.types('/vps show db-1');
  await owner.presses('Protect');
  await owner.sees('Protected by @olga');
  // A form from before.
  await manager.presses('Delete');
  await manager.sees('so it can’t be deleted');
  await manager.closes();
  manager.overlooksOldMessages();
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
    await owner.sees(words);
    if (owner.modal()) await owner.closes();
  }
  await manager.types('/vps show db-1');
  await manager.sees('🔒 Protected by @olga');
  manager.doesNotSee('Reboot');
  manager.doesNotSee('Delete…');
  const forger = rawUser(team, 'mara');
  await forger.presses('unprotect', { id, on: 'card' });
  const latest = async () => (await forger.audit())[0];
  await expect.poll(latest).toMatchObject({ action: 'unprotect', outcome: 'denied' });
  expect(changesSeen(team)).toEqual([]);
  await owner.presses('Lift protection');
  await owner.sees('lifted the protection on db-1');
  await team.operator.types('/vps reboot db-1');
  await owner.sees('rebooted db-1');
  const entries = await team.app.ports.audit.list({ workspaceId: TEAM.id, server: String(id), limit: 50 });
  const done = entries.filter(({ outcome }) => outcome === 'done').map(({ action }) => action);
  expect(done).toEqual(['reboot', 'unprotect', 'protect']);
});

it.concurrent('a note can be written, changed and emptied with the card’s button, and the card shows it', async ({
  expect,
}) => {
  await using team = await startTeam({ servers: 1 });
  const [id = 0] = team.serverIds;
  const noted = () => team.app.ports.serverNotes.find('note', TEAM.id, id);
  const { operator } = team;
  await operator.types('/vps show web-1');
  await operator.presses('Note…');
  await operator.fills({ Note: 'billing <!channel> & shop', Contact: '@mara' });
  await operator.presses('Save');
  await operator.sees('Note saved');
  expect(await noted()).toMatchObject({ text: 'billing <!channel> & shop', contact: USERS.mara.id });
  await operator.closes();
  await operator.sees('Note: billing <!channel> & shop');
  await operator.sees('Contact: @mara');
  await operator.presses('Note…');
  await operator.sees('[billing <!channel> & shop]');
  await operator.fills({ Note: '', Contact: '' });
  await operator.presses('Save');
  await expect.poll(noted).toBeUndefined();
  await team.viewer.types('/vps show web-1');
  await team.viewer.sees('[Refresh]');
  team.viewer.doesNotSee('[Note…]');
});
