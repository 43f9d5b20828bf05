import { expect, it } from 'vitest';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { startTeam } from '../../support/team.ts';

async function startNoted() {
  const team = await startTeam();
  const [id = 0] = team.hosting.seedServers(team.account, 2, 'web');
  const operator = team.slack.as('otto').in('#ops');
  await operator.types(`/vps note web-1 @mara “billing, call <@${USERS.olga.id}|olga> first”`);
  await operator.sees('billing, call @olga first');
  return { team, id, operator };
}

it('a note is on the card with its contact and its author, and pings no one but the contact', async () => {
  const { team } = await startNoted();
  await using _ = team;
  const viewer = team.slack.as('vera').in('#ops');
  await viewer.types('/vps show web-1');
  await viewer.sees('Note: billing, call @olga first');
  await viewer.sees('Contact: @mara');
  await viewer.sees('Noted by @otto');
  expect(await team.app.ports.serverNotes.list('note', TEAM.id)).toEqual([
    expect.objectContaining({ label: 'web-1', text: 'billing, call @olga first', contact: USERS.mara.id }),
  ]);
  expect(team.slack.brokenRules()).toEqual([]);
});

it('the list finds servers by note and by contact', async () => {
  const { team } = await startNoted();
  await using _ = team;
  const viewer = team.slack.as('vera').in('#ops');
  for (const filter of ['BILLING', `<@${USERS.mara.id}|mara>`]) {
    viewer.overlooksOldMessages();
    await viewer.types(`/vps list ${filter}`);
    await viewer.sees('1 server matching');
    await viewer.sees('web-1');
  }
});

it('the text can be replaced without the contact, and both can be removed', async () => {
  const { team, id, operator } = await startNoted();
  await using _ = team;
  const noted = async () => await team.app.ports.serverNotes.find('note', TEAM.id, id);
  await operator.types('/vps note web-1 shop');
  await operator.sees('Note: shop');
  expect(await noted()).toMatchObject({ text: 'shop', contact: USERS.mara.id });
  await operator.types('/vps note web-1 owner=none');
  await expect.poll(noted).not.toHaveProperty('contact');
  await operator.types('/vps note web-1 clear');
  await expect.poll(noted).toBeUndefined();
});

it('a viewer can’t change a note, and an invalid note is explained', async () => {
  const { team, id } = await startNoted();
  await using _ = team;
  const viewer = team.slack.as('vera').in('#ops');
  await viewer.types('/vps note web-1 mine');
  await viewer.sees('operator');
  expect(await team.app.ports.serverNotes.find('note', TEAM.id, id)).toMatchObject({
    notedBy: USERS.otto.id,
  });
  const operator = team.slack.as('otto').in('#ops');
  await operator.types('/vps note web-1');
  await operator.sees('Add some text');
  await operator.types('/vps note web-1 owner=otto');
  await operator.sees('Mention who to ask');
  await operator.types(`/vps note web-1 ${'x'.repeat(301)}`);
  await operator.sees('up to 300 characters');
});

it('a note is not shown on another account’s server with the same ID', async () => {
  const { team, id } = await startNoted();
  await using _ = team;
  const note = await team.app.ports.serverNotes.find('note', TEAM.id, id);
  expect(note).toBeDefined();
  if (note) await team.app.ports.serverNotes.put('note', TEAM.id, { ...note, label: 'other' });
  const viewer = team.slack.as('vera').in('#ops');
  await viewer.types('/vps show web-1');
  await viewer.sees('Paid until');
  viewer.doesNotSee('billing');
});

it('a note can be written, changed and emptied with the card’s button, and the card shows it', async () => {
  await using team = await startTeam();
  const [id = 0] = team.hosting.seedServers(team.account, 1, 'web');
  const noted = () => team.app.ports.serverNotes.find('note', TEAM.id, id);
  const operator = team.slack.as('otto').in('#ops');
  await operator.types('/vps show web-1');
  await operator.presses('Note…');
  await operator.fills({ Note: 'billing <!channel> & shop', 'Who to ask': '@mara' });
  await operator.presses('Save');
  await operator.sees('Note saved');
  expect(await noted()).toMatchObject({ text: 'billing <!channel> & shop', contact: USERS.mara.id });
  await operator.closes();
  await operator.sees('Note: billing <!channel> & shop');
  await operator.sees('Contact: @mara');
  await operator.presses('Note…');
  await operator.sees('[billing <!channel> & shop]');
  await operator.fills({ Note: '', 'Who to ask': '' });
  await operator.presses('Save');
  await expect.poll(noted).toBeUndefined();
  const viewer = team.slack.as('vera').in('#ops');
  await viewer.types('/vps show web-1');
  await viewer.sees('[Refresh]');
  viewer.doesNotSee('[Note…]');
  expect(team.slack.brokenRules()).toEqual([]);
});

it('a note can be changed in the window of a server that an alert names', async () => {
  await using team = await startTeam();
  team.hosting.seedServers(team.account, 1, 'web');
  const operator = team.slack.as('otto').in('#ops');
  await operator.types('web-1 is down');
  await operator.usesMessageShortcut('manage_server', 'web-1 is down');
  await operator.presses('Note…');
  await operator.fills({ Note: 'restart the queue first' });
  await operator.presses('Save');
  await operator.sees('Note saved');
  await operator.sees('Note: restart the queue first');
  await operator.sees('[Reboot]');
  expect(team.slack.brokenRules()).toEqual([]);
});
