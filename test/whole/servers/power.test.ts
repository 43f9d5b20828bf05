import { expect, it, test } from 'vitest';
import type { FaultRule } from '../../../src/sandbox/hosting/faults.ts';
import { fillDelete } from '../../support/acts.ts';
import { changesSeen, rawUser } from '../../support/raw-user.ts';
import { startTeam, type Team, type TeamOptions } from '../../support/team.ts';

it('a reboot in a direct message reports the observed outcome to its user', async () => {
  await using team = await startTeam({ servers: 1, hosting: { rebootDelayMs: 700 } });
  const operator = team.slack.as('otto').in('dm');
  await operator.types('/vps reboot web-1');
  await operator.sees('Rebooting web-1…');
  await operator.sees(/web-1 is 🟢 running \(\d+ s\)/);
});

it('a press on a card updates that card, also with the observed outcome, and is announced in the channel, with no further message', async () => {
  await using team = await startTeam({ servers: 1, hosting: { rebootDelayMs: 700 } });
  const { operator } = team;
  await operator.types('/vps show web-1');
  await operator.sees('ssh root@');
  operator.doesNotSee('Delete…');
  operator.doesNotSee('Start');
  await operator.presses('Reboot');
  await operator.sees('🟡 rebooting');
  await operator.sees(/@otto rebooted web-1: 🟢 running/);
  await operator.sees(/web-1\n🟢 running/);
  operator.doesNotSee('🟡 rebooting');
  await operator.presses('Stop');
  await operator.sees('⚪ stopped');
  await operator.sees('@otto stopped web-1');
  await operator.sees('Last action: @otto stopped it');
  const cards = operator.messages().filter(({ shown }) => shown.includes('Paid until'));
  expect(cards).toHaveLength(1);
});

it('Refresh updates the same card with the server’s current state', async () => {
  await using team = await startTeam({ servers: 1 });
  await team.viewer.types('/vps show web-1');
  await team.viewer.sees('🟢 running');
  await team.operator.types('/vps stop web-1');
  await team.viewer.sees('stopped web-1');
  team.viewer.overlooksOldMessages();
  const again = team.slack.as('vera');
  await again.presses('Refresh');
  await again.sees('Last action: @otto stopped it');
  again.doesNotSee('🟢 running');
});

it('the beginning of a label asks for confirmation first, and a full label runs at once', async () => {
  await using team = await startTeam({ servers: 1 });
  await team.operator.types('/vps reboot we');
  await team.operator.sees('we is only the beginning of web-1. Reboot web-1? Nothing has been changed.');
  expect(changesSeen(team)).toEqual([]);
  await team.operator.presses('Reboot web-1');
  await team.operator.sees('rebooted web-1: 🟢 running');
  await team.operator.types('/vps stop WEB-1');
  await team.operator.sees('stopped web-1');
  expect(changesSeen(team)).toHaveLength(2);
});

it('a second reboot within two minutes asks for confirmation first, also of another user', async () => {
  await using team = await startTeam({ servers: 1 });
  await team.operator.types('/vps reboot web-1');
  await team.operator.sees('rebooted web-1');
  const manager = team.slack.as('mara').overlooksOldMessages();
  await manager.types('/vps reboot web-1');
  await manager.sees(/web-1 was rebooted \d+ s ago by @otto\. Reboot it again\?/);
  expect(changesSeen(team)).toHaveLength(1);
  await manager.presses('Reboot again');
  await manager.sees('@mara rebooted web-1');
  expect(changesSeen(team)).toHaveLength(2);
});

it('a second reboot after one that was not confirmed says only that the first may have been carried out, also in a list', async () => {
  await using team = await startTeam({ servers: 2 });
  team.hosting.faults.add({ on: 'reboot', kind: 'lost_after' });
  await team.operator.types('/vps reboot web-1');
  await team.operator.sees('We’re not sure whether web-1 was rebooted');
  const manager = team.slack.as('mara').overlooksOldMessages();
  await manager.types('/vps reboot web-*');
  await manager.sees(/web-1 🟢 running, may have been rebooted \d+ s ago by @otto \(not confirmed\)/);
  await manager.types('/vps reboot web-1');
  await manager.sees(/web-1 may have been rebooted \d+ s ago by @otto \(not confirmed\)\. Reboot it again\?/);
  expect(changesSeen(team)).toHaveLength(1);
});

it('an action that was not sent is reported with the server, the cause and what to do', async () => {
  await using team = await startTeam({ servers: 2 });
  team.hosting.faults.add({ on: 'servers', kind: 'status_500' });
  await team.operator.types('/vps reboot web-2');
  await team.operator.sees('web-2 wasn’t rebooted: the hosting API returned an error (500).');
  expect(changesSeen(team)).toEqual([]);
  await team.operator.presses('Try again');
  await team.operator.sees('rebooted web-2');
});

it('a server state that does not allow an action is named, with what to do', async () => {
  await using team = await startTeam({ servers: 1, hosting: { rebootDelayMs: 60_000 } });
  const { operator } = team;
  await operator.types('/vps stop web-1');
  await operator.sees('stopped web-1');
  await operator.types('/vps stop web-1');
  await operator.sees('web-1 is already stopped, so it wasn’t stopped.');
  await operator.types('/vps reboot web-1');
  await operator.sees('web-1 is stopped, so it can’t be rebooted. Start the server instead.');
  await operator.presses('Start');
  await operator.sees('started web-1: 🟢 running');
  await operator.types('/vps reboot web-1');
  await operator.sees('is rebooting web-1');
  await operator.types('/vps stop web-1');
  await operator.sees('web-1 is rebooting, so it can’t be stopped. Try again in a moment.');
  await operator.presses('Show server');
  await operator.sees('Paid until');
});

it('without a server, a command opens a menu with the recently used ones first', async () => {
  await using team = await startTeam({ servers: 9 });
  const { operator } = team;
  await operator.types('/vps stop web-7');
  await operator.sees('stopped web-7');
  await operator.types('/vps start');
  await operator.sees('Start which server?');
  expect((await operator.optionsOf('Choose a server')).slice(0, 3)).toEqual(['web-7', 'web-1', 'web-2']);
  await operator.chooses('Choose a server', 'web-7');
  await operator.sees('started web-7');
  for (const verb of ['renew', 'delete']) {
    await team.manager.types(`/vps ${verb}`);
    await team.manager.fills({ Server: 'web-2' });
    await team.manager.presses('Continue');
    await team.manager.sees('Paid until');
    await team.manager.closes();
  }
});

it('without a server, more than fit into a menu are searched while the user types', async () => {
  await using team = await startTeam({ servers: 120 });
  await team.operator.types('/vps reboot');
  await team.operator.sees('Reboot which server?');
  expect(await team.operator.suggestionsFor('Type to search', 'web-119')).toEqual(['web-119']);
  await team.manager.types('/vps delete');
  expect(await team.manager.suggestionsFor('Server', 'web-119')).toEqual(['web-119']);
  await team.manager.closes();
});

it('a card whose server was deleted from it is updated, with no further message to the user', async () => {
  await using team = await startTeam({ servers: 1 });
  const { manager } = team;
  await manager.types('/vps show web-1');
  await manager.presses('Delete…');
  await manager.fills({ 'To confirm, type web-1': 'web-1' });
  await manager.presses('Delete');
  await manager.sees('@mara deleted web-1');
  await manager.closes();
  await manager.sees('web-1 was deleted.');
  manager.doesNotSee('Paid until');
  expect(manager.messages()).toHaveLength(2);
});

type Answers = NonNullable<NonNullable<TeamOptions['hosting']>['answers']>;

const startWithServer = (answers: Answers = {}, settings = {}) =>
  startTeam({ servers: 1, settings, hosting: { answers } });

/** How the audit says that this user's last act ended. */
async function lastAct(team: Team, who: 'otto' | 'mara', action: string): Promise<string> {
  const entries = (await rawUser(team, who).audit()).filter((entry) => entry.action === action);
  return `${entries[0]?.outcome} ${entries[0]?.code ?? ''}`.trim();
}

/** What the answer to a change can be without saying whether it was done. */
const NO_PROOF: readonly (readonly [Omit<FaultRule, 'on'>, code: string])[] = [
  [{ kind: 'hang_before' }, 'no_answer'],
  [{ kind: 'lost_after' }, 'no_answer'],
  [{ kind: 'status_500_after' }, 'unreadable_answer'],
  [{ kind: 'garbage' }, 'unreadable_answer'],
  [{ kind: 'error_in_2xx' }, 'unreadable_answer'],
  [{ kind: 'error', code: 'checking' }, 'checking'],
];

test('an action that was accepted is told as that on a card, although the servers can’t be read again after it', async () => {
  await using team = await startTeam({ servers: 1 });
  const operator = team.slack.as('otto').in('dm');
  await operator.types('/vps show web-1');
  await operator.sees('ssh root@');
  team.hosting.onEvent((event) => {
    if (event.kind === 'arrived' && event.request.operation === 'stop')
      team.hosting.faults.add({ on: 'servers', kind: 'lost_before', times: 'always' });
  });
  await operator.presses('Stop');
  await operator.sees(/Stopping web-1…|web-1 was stopped|accepted the request to stop web-1/);
  operator.doesNotSee('didn’t answer');
});

test.concurrent.each(
  NO_PROOF,
)('an answer that proves nothing makes a stop unconfirmed, to its user and in the audit, and a delete, unless the list proves it: %o', async (fault, code) => {
  // Only an answer that never comes takes this long; the others must not, on a busy machine either.
  const settings = fault.kind.startsWith('hang') ? { HOSTING_TIMEOUT_MS: '1500' } : {};
  await using team = await startWithServer({}, settings);
  team.hosting.faults.add({ on: 'stop', ...fault });
  await team.operator.types('/vps stop web-1');
  await team.operator.sees('We’re not sure whether web-1 was stopped');
  expect(await lastAct(team, 'otto', 'stop')).toBe(`in_doubt ${code}`);
  expect(team.hosting.requests({ operation: 'stop' })).toHaveLength(1);
  expect(team.slack.as('nora').screen()).not.toContain('stopped web-1');
  team.hosting.faults.add({ on: 'delete', ...fault });
  const manager = await confirmDelete(team);
  await manager.sees(/web-1 was deleted\.|We’re not sure whether web-1 was deleted/);
  const isGone = team.hosting.listServers(team.account).length === 0;
  expect(await lastAct(team, 'mara', 'delete')).toBe(isGone ? 'done' : `in_doubt ${code}`);
  expect(manager.screen().includes('We’re not sure whether web-1 was deleted')).toBe(!isGone);
  expect(team.hosting.requests({ operation: 'delete' })).toHaveLength(1);
});

test.concurrent.each([
  'deleting',
  'running',
] as const)('a delete that is answered with another state than deleted is reported as deleted once the list proves it: %s', async (deletedState) => {
  await using team = await startWithServer({ deletedState });
  const manager = await confirmDelete(team);
  await manager.sees('web-1 was deleted.');
  expect(await lastAct(team, 'mara', 'delete')).toBe('done');
});

test.concurrent.each([
  'starting',
  'stopped',
] as const)('a start that is answered with another state than running is reported as begun, not as done: %s', async (startedState) => {
  await using team = await startWithServer({ startedState });
  await team.operator.types('/vps stop web-1');
  await team.operator.sees('stopped web-1');
  await team.operator.types('/vps start web-1');
  await team.operator.sees('is starting web-1…');
  expect(team.operator.screen()).not.toContain('started web-1: ');
});

async function confirmDelete({ manager }: Team) {
  await fillDelete(manager);
  await manager.presses('Delete');
  return manager;
}
