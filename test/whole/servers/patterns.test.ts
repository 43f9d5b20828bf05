import { expect, it } from 'vitest';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { changesSeen, rawUser } from '../../support/raw-user.ts';
import { grantRole, startTeam, type Team } from '../../support/team.ts';

const pathsOf = (team: Team) => changesSeen(team).map(({ path }) => path);

it.concurrent('a pattern lists the servers that it matches, and one press acts on exactly those', async () => {
  await using team = await startTeam({ servers: 3 });
  const ids = team.serverIds;
  const [db = 0] = team.hosting.seedServers(team.account, 1, 'db');
  const { operator } = team;
  await operator.types('/vps reboot web-* db-1');
  await operator.sees('Reboot these 4 servers?');
  await operator.sees('db-1 🟢 running\nweb-1 🟢 running\nweb-2 🟢 running\nweb-3 🟢 running');
  expect(changesSeen(team)).toEqual([]);
  // What appears after the list was read is not in it.
  team.hosting.seedServers(team.account, 1, 'web-later');
  await operator.presses('Reboot 4 servers');
  await operator.sees('@otto rebooted db-1, web-1, web-2, web-3');
  await operator.sees('Rebooting 4 of 4 servers.');
  operator.doesNotSee('Reboot these 4 servers?');
  expect(pathsOf(team).map((path) => Number(/\/(\d+)\//.exec(path)?.[1]))).toEqual([db, ...ids]);
});

it.concurrent('the pattern * matches every server that the user has the role for and shows no other, while a name beside a pattern is refused, not left out', async () => {
  await using team = await startTeam({ servers: 2, hasRoles: false });
  team.hosting.seedServers(team.account, 30, 'db');
  await grantRole(team, USERS.otto.id, 'operator', { pattern: 'web-*' });
  await team.operator.types('/vps stop *');
  await team.operator.sees('Stop these 2 servers?');
  team.operator.doesNotSee('db-');
  await team.operator.types('/vps stop db-*');
  await team.operator.sees('No server matches db-*.');
  await team.operator.types('/vps reboot web-* db-1');
  await team.operator.sees(/db-1.*operator|operator.*db-1/);
  team.operator.doesNotSee('Reboot these');
});

it.concurrent('a pattern that matches more than 20 servers is refused with their number', async () => {
  await using team = await startTeam({ servers: 21 });
  await team.operator.types('/vps reboot *');
  await team.operator.sees('21 servers match, but you can reboot only 20 at once. Nothing has been changed.');
  await team.operator.types('/vps reboot web-1*');
  await team.operator.sees('Reboot these 11 servers?');
  expect(changesSeen(team)).toEqual([]);
});

it.concurrent('protected servers, and those in a state that does not allow it, are named in advance and left alone', async () => {
  await using team = await startTeam({ servers: 4 });
  const ids = team.serverIds;
  const protection = { serverId: ids[0] ?? 0, protectedBy: USERS.olga.id };
  await team.app.ports.serverNotes.put('protection', TEAM.id, protection);
  const { operator } = team;
  await operator.types('/vps stop web-2');
  await operator.sees('stopped web-2');
  await operator.types('/vps reboot web-* nope');
  await operator.sees('Reboot these 2 servers?');
  await operator.sees('Won’t be rebooted: web-1 (protected by @olga), web-2 (⚪ stopped)');
  await operator.sees('No server matches nope.');
  await operator.presses('Reboot 2 servers');
  await operator.sees('rebooted web-3, web-4');
  expect(changesSeen(team)).toHaveLength(3);
  await operator.types('/vps reboot web-1*');
  await operator.sees('Nothing was rebooted.');
});

it.concurrent('a pattern’s confirmation says who just rebooted a server, and a server rebooted after that is confirmed again', async () => {
  await using team = await startTeam({ servers: 3 });
  await team.manager.types('/vps reboot web-1');
  const { operator } = team;
  await operator.sees('@mara rebooted web-1');
  await operator.types('/vps reboot web-*');
  await operator.sees(/web-1 🟢 running, rebooted \d+ s ago by @mara/);
  await team.manager.types('/vps reboot web-2');
  await operator.sees('@mara rebooted web-2');
  await operator.presses('Reboot 3 servers');
  await operator.sees('rebooted web-1, web-3');
  await operator.sees(/web-2 was rebooted \d+ s ago by @mara\. Reboot it again\?/);
  expect(changesSeen(team)).toHaveLength(4);
  await operator.presses('Reboot web-2');
  await operator.sees('@otto rebooted web-2');
  expect(changesSeen(team)).toHaveLength(5);
});

it.concurrent('a double click on a pattern’s confirmation acts on each server once', async () => {
  await using team = await startTeam({ servers: 3 });
  await team.operator.types('/vps stop web-*');
  await team.operator.sees('Stop these 3 servers?');
  await Promise.all([team.operator.presses('Stop 3 servers'), team.operator.presses('Stop 3 servers')]);
  await team.operator.sees('This request was already handled.');
  await team.operator.sees('@otto stopped web-1, web-2, web-3');
  expect(changesSeen(team)).toHaveLength(3);
});

it.concurrent('a pattern’s permission is checked for each server when its confirmation is pressed', async () => {
  await using team = await startTeam({ servers: 2 });
  const { operator } = team;
  await operator.types('/vps stop web-*');
  await operator.sees('Stop these 2 servers?');
  const viewer = rawUser(team, 'vera', 'vera');
  const before = viewer.mark();
  const servers = team.serverIds.map((id, at) => [id, `web-${at + 1}`]);
  await viewer.presses('stop_several', { id: 'a-list', at: Date.now(), servers });
  await viewer.seesChange(before);
  expect(viewer.ephemeralMessages().at(-1)).toContain('You need the operator role');
  expect((await viewer.audit())[0]).toMatchObject({ action: 'stop', outcome: 'denied' });
  for (const { id } of await team.app.ports.grants.list(TEAM.id))
    await team.app.ports.grants.remove(TEAM.id, { grantId: id });
  await operator.presses('Stop 2 servers');
  await operator.sees('You need the operator role');
  await operator.sees('Stop these 2 servers?');
  expect(changesSeen(team)).toEqual([]);
});

it.concurrent('a pattern’s confirmation expires after ten minutes, and names servers that it skips because their label changed', async () => {
  await using team = await startTeam({ servers: 2 });
  const [first = 0, second = 0] = team.serverIds;
  const servers = [
    [first, 'web-1'],
    [second, 'old-name'],
    [999_999, 'gone'],
  ];
  const operator = rawUser(team, 'otto');
  const screen = team.slack.as('otto');
  await operator.presses('stop_several', { id: 'a', at: Date.now() - 11 * 60_000, servers });
  await screen.sees('This button or form is out of date. Run the command again.');
  expect(changesSeen(team)).toEqual([]);
  await operator.presses('stop_several', { id: 'b', at: Date.now(), servers });
  await screen.sees('old-name is now called web-2, so it wasn’t stopped.');
  await screen.sees('No server matches gone.');
  expect(changesSeen(team)).toHaveLength(1);
});

it.concurrent('a misspelled name offers a button for the server that was probably meant, and does nothing until it is pressed', async () => {
  await using team = await startTeam({ servers: 1 });
  await team.operator.types('/vps reboot wbe-1');
  await team.operator.sees('No server matches wbe-1. Did you mean web-1?');
  expect(changesSeen(team)).toEqual([]);
  await team.operator.presses('Reboot web-1');
  await team.operator.sees('@otto rebooted web-1');
  expect(changesSeen(team)).toHaveLength(1);
});

it.concurrent('a misspelled name that is close to several labels offers those servers, recently used first', async () => {
  await using team = await startTeam({ servers: 3 });
  const { operator } = team;
  await operator.types('/vps stop web-3');
  await operator.sees('stopped web-3');
  await operator.types('/vps start web-9');
  await operator.sees('No server matches web-9. Did you mean web-3, web-1 or web-2?');
  expect(await operator.optionsOf('Choose a server')).toEqual(['web-3', 'web-1', 'web-2']);
  await operator.chooses('Choose a server', 'web-3');
  await operator.sees('started web-3');
  await operator.types('/vps stop we');
  await operator.sees('3 servers match we.');
  expect(await operator.optionsOf('Choose a server')).toEqual(['web-3', 'web-1', 'web-2']);
});

it.concurrent('words that form one label mean that server, and not the one whose ID is among them', async () => {
  await using team = await startTeam();
  const [id = 0] = team.hosting.seedServers(team.account, 1, 'db');
  const genuine = team.hosting.servers.list.bind(team.hosting.servers);
  team.hosting.seedServers(team.account, 1, 'web');
  team.hosting.servers.list = (account) =>
    genuine(account).map((server) => (server.label === 'web-1' ? { ...server, label: `web ${id}` } : server));
  await team.operator.types(`/vps stop web  ${id}`);
  await team.operator.sees(`@otto stopped web ${id}`);
  expect(changesSeen(team)).toHaveLength(1);
  expect(pathsOf(team).join()).not.toContain(`/${id}/`);
});

it.concurrent('another try asks for confirmation, and acts once on only the servers that failed', async () => {
  await using team = await startTeam({ servers: 4, hasRateLimits: false });
  const ids = team.serverIds;
  const { operator } = team;
  await operator.types('/vps stop web-*');
  await operator.sees('Stop these 4 servers?');
  // Two are refused, and nothing is known of the third.
  team.hosting.faults.add({ on: 'stop', kind: 'error', code: 'wrong_state', times: 2 });
  team.hosting.faults.add({ on: 'stop', kind: 'lost_after' });
  await operator.presses('Stop 4 servers');
  await operator.sees('Stopping 1 of 4 servers.');
  const before = pathsOf(team).length;
  expect(operator.confirmationOf('Stop 2 servers')).toContain('Stop 2 servers?');
  await operator.presses('Stop 2 servers', { confirm: false });
  expect(pathsOf(team)).toHaveLength(before);
  const pressed = await operator.presses('Stop 2 servers');
  await operator.sees('@otto stopped web-1, web-2');
  if (pressed) await team.slack.redeliver(pressed);
  await operator.types('/vps show web-4');
  await operator.sees(String(ids[3]));
  expect(pathsOf(team).slice(before)).toEqual([`/v1/servers/${ids[0]}/stop`, `/v1/servers/${ids[1]}/stop`]);
});
