import { expect, it } from 'vitest';
import { changesSeen } from '../../support/raw-user.ts';
import { startTeam } from '../../support/team.ts';

async function startServers(count: number, options: Parameters<typeof startTeam>[0] = {}) {
  const team = await startTeam(options);
  team.hosting.seedServers(team.account, count, 'web');
  return team;
}

it('a reboot is announced once in the channel, and its message is updated with the observed outcome', async () => {
  await using team = await startServers(1, { hosting: { rebootDelayMs: 700 } });
  const operator = team.slack.as('otto').in('#ops');
  const viewer = team.slack.as('vera').in('#ops');
  await operator.types('/vps reboot web-1');
  await viewer.sees('@otto is rebooting web-1…');
  await viewer.sees(/@otto rebooted web-1: 🟢 running \(\d+ s\)/);
  viewer.doesNotSee('is rebooting');
  const told = operator.messages().filter(({ shown }) => shown.includes('web-1'));
  expect(told).toHaveLength(1);
  expect(team.slack.brokenRules()).toEqual([]);
});

it('a reboot in a direct message reports the observed outcome to its user', async () => {
  await using team = await startServers(1, { hosting: { rebootDelayMs: 700 } });
  const operator = team.slack.as('otto').in('dm');
  await operator.types('/vps reboot web-1');
  await operator.sees('Rebooting web-1…');
  await operator.sees(/web-1 is 🟢 running \(\d+ s\)/);
});

it('a press on a card updates that card and is announced in the channel, with no further message', async () => {
  await using team = await startServers(1);
  const operator = team.slack.as('otto').in('#ops');
  await operator.types('/vps show web-1');
  await operator.sees('ssh root@');
  operator.doesNotSee('Delete…');
  operator.doesNotSee('Start');
  await operator.presses('Stop');
  await operator.sees('⚪ stopped');
  await operator.sees('@otto stopped web-1');
  await operator.sees('Last action: @otto stopped it');
  operator.doesNotSee('🟢 running');
  const cards = operator.messages().filter(({ shown }) => shown.includes('Paid until'));
  expect(cards).toHaveLength(1);
  expect(team.slack.brokenRules()).toEqual([]);
});

it('a card whose Reboot was pressed is updated with the observed outcome', async () => {
  await using team = await startServers(1, { hosting: { rebootDelayMs: 700 } });
  const operator = team.slack.as('otto').in('#ops');
  await operator.types('/vps show web-1');
  await operator.presses('Reboot');
  await operator.sees('🟡 rebooting');
  await operator.sees(/@otto rebooted web-1: 🟢 running/);
  await operator.sees(/web-1\n🟢 running/);
  operator.doesNotSee('🟡 rebooting');
  expect(operator.messages().filter(({ shown }) => shown.includes('Paid until'))).toHaveLength(1);
  expect(team.slack.brokenRules()).toEqual([]);
});

it('Refresh updates the same card with the server’s current state', async () => {
  await using team = await startServers(1);
  const viewer = team.slack.as('vera').in('#ops');
  await viewer.types('/vps show web-1');
  await viewer.sees('🟢 running');
  await team.slack.as('otto').in('#ops').types('/vps stop web-1');
  await viewer.sees('stopped web-1');
  viewer.overlooksOldMessages();
  const again = team.slack.as('vera').in('#ops');
  await again.presses('Refresh');
  await again.sees('Last action: @otto stopped it');
  again.doesNotSee('🟢 running');
});

it('the beginning of a label asks for confirmation first, and a full label runs at once', async () => {
  await using team = await startServers(1);
  const operator = team.slack.as('otto').in('#ops');
  await operator.types('/vps reboot we');
  await operator.sees('we is only the beginning of web-1. Reboot web-1? Nothing has been changed.');
  expect(changesSeen(team)).toEqual([]);
  await operator.presses('Reboot web-1');
  await operator.sees('rebooted web-1: 🟢 running');
  await operator.types('/vps stop WEB-1');
  await operator.sees('stopped web-1');
  expect(changesSeen(team)).toHaveLength(2);
});

it('a second reboot within two minutes asks for confirmation first, also of another user', async () => {
  await using team = await startServers(1);
  const operator = team.slack.as('otto').in('#ops');
  await operator.types('/vps reboot web-1');
  await operator.sees('rebooted web-1');
  const manager = team.slack.as('mara').in('#ops').overlooksOldMessages();
  await manager.types('/vps reboot web-1');
  await manager.sees(/web-1 was rebooted \d+ s ago by @otto\. Reboot it again\?/);
  expect(changesSeen(team)).toHaveLength(1);
  await manager.presses('Reboot again');
  await manager.sees('@mara rebooted web-1');
  expect(changesSeen(team)).toHaveLength(2);
});

it('an action that was not sent is reported with the server, the cause and what to do', async () => {
  await using team = await startServers(2);
  const operator = team.slack.as('otto').in('#ops');
  team.hosting.faults.add({ on: 'servers', kind: 'status_500' });
  await operator.types('/vps reboot web-2');
  await operator.sees(
    'web-2 wasn’t rebooted: the hosting API returned an error (500). Try again in a moment.',
  );
  expect(changesSeen(team)).toEqual([]);
  await operator.presses('Try again');
  await operator.sees('rebooted web-2');
});

it('a server state that does not allow an action is named, with what to do', async () => {
  await using team = await startServers(1, { hosting: { rebootDelayMs: 60_000 } });
  const operator = team.slack.as('otto').in('#ops');
  await operator.types('/vps reboot web-1');
  await operator.sees('is rebooting web-1');
  await operator.types('/vps stop web-1');
  await operator.sees('web-1 is rebooting, so it can’t be stopped. Try again in a moment.');
});

it('without a server, a command opens a menu with the recently used ones first', async () => {
  await using team = await startServers(9);
  const operator = team.slack.as('otto').in('#ops');
  await operator.types('/vps stop web-7');
  await operator.sees('stopped web-7');
  await operator.types('/vps start');
  await operator.sees('Start which server?');
  expect((await operator.optionsOf('Choose a server')).slice(0, 3)).toEqual(['web-7', 'web-1', 'web-2']);
  await operator.chooses('Choose a server', 'web-7');
  await operator.sees('started web-7');
  const manager = team.slack.as('mara').in('#ops');
  for (const verb of ['renew', 'delete']) {
    await manager.types(`/vps ${verb}`);
    await manager.fills({ Server: 'web-2' });
    await manager.presses('Continue');
    await manager.sees('Paid until');
    await manager.closes();
  }
  expect(team.slack.brokenRules()).toEqual([]);
});

it('without a server, thousands are searched while the user types', async () => {
  await using team = await startServers(5000);
  const operator = team.slack.as('otto').in('#ops');
  await operator.types('/vps reboot');
  await operator.sees('Reboot which server?');
  expect(await operator.suggestionsFor('Type to search', 'web-4999')).toEqual(['web-4999']);
  const manager = team.slack.as('mara').in('#ops');
  await manager.types('/vps delete');
  expect(await manager.suggestionsFor('Server', 'web-4999')).toEqual(['web-4999']);
  await manager.closes();
  expect(team.slack.brokenRules()).toEqual([]);
});

it('a card whose server was deleted from it is updated, with no further message to the user', async () => {
  await using team = await startServers(1);
  const manager = team.slack.as('mara').in('#ops');
  await manager.types('/vps show web-1');
  await manager.presses('Delete…');
  await manager.fills({ 'To confirm, type web-1': 'web-1' });
  await manager.presses('Delete');
  await manager.sees('@mara deleted web-1');
  await manager.closes();
  await manager.sees('web-1 was deleted.');
  manager.doesNotSee('Paid until');
  expect(manager.messages()).toHaveLength(2);
  expect(team.slack.brokenRules()).toEqual([]);
});
