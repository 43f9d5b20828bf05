import { describe, expect, it } from 'vitest';
import { deletionWord } from '../../../src/core/labels.ts';
import type { WireServer } from '../../../src/sandbox/hosting/servers.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { createServer, fillDelete } from '../../support/acts.ts';
import { until } from '../../support/eventually.ts';
import { showServersAs } from '../../support/other-answers.ts';
import { changesSeen } from '../../support/raw-user.ts';
import { startTeam, type Team, type TeamOptions } from '../../support/team.ts';

/** What a label may be, for all that docs/hosting-api.md 2.9 says of it. */
const LABELS = [
  '<!channel> *x*',
  `<@${USERS.nora.id}> <!subteam^S0ONCALL01>`,
  '<https://evil.example|click me> https://evil.example',
  '@channel @here #ops',
  '`code` ```more``` `',
  'x'.repeat(300),
  '&'.repeat(255),
  '"quotes\' \\ “smart”',
  'two\nlines\r\nand\ttab',
  '\u202Egnp.exe\u202C',
  '👩‍👩‍👧‍👦'.repeat(30),
  '__proto__',
  '',
  '1003',
  '198.18.3.234',
];

const PERMANENT_ID = 1001;

/** A team whose account lists exactly these labels, whatever the service itself would let pass. */
async function startWith(labels: readonly string[], options: TeamOptions = {}): Promise<Team> {
  const team = await startTeam(options);
  const ids = team.hosting.seedServers(team.account, labels.length);
  const genuine = team.hosting.servers.list.bind(team.hosting.servers);
  const labelOf = new Map(ids.map((id, place) => [id, labels[place] ?? '']));
  team.hosting.servers.list = (account) =>
    genuine(account).map(
      (server): WireServer => ({ ...server, label: labelOf.get(server.id) ?? server.label }),
    );
  return team;
}

/** Only the user who acted is mentioned; labels mention no one. */
function expectNobodyIsPinged(team: Team, ...actors: readonly string[]): void {
  expect(team.slack.pings().filter((name) => !actors.includes(name.replace(/^@/, '')))).toEqual([]);
}

describe.concurrent('a strange label', () => {
  it('is listed and found without breaking anything, also in sections where Slack refuses the table', async () => {
    await using team = await startWith(LABELS);
    await team.viewer.types('/vps list');
    await team.viewer.sees(`${LABELS.length} servers`);
    await team.viewer.sees('<!channel> *x*');
    await team.viewer.sees('(no label)');
    for (const filter of ['<!channel>', '`', '👩', '"quotes']) {
      const fresh = team.slack.as('vera').overlooksOldMessages();
      await fresh.types(`/vps list ${filter}`);
      await fresh.sees(/\d+ servers? matching|No servers match/);
    }
    team.slack.faults.refuseBlock('data_table');
    team.viewer.overlooksOldMessages();
    await team.viewer.types('/vps list');
    await team.viewer.sees('<!channel> *x*');
    expectNobodyIsPinged(team);
  });

  it('doesn’t keep its server from being shown, rebooted, renewed and deleted by ID or label', async ({
    expect,
  }) => {
    // Eight answers and announcements for each of the labels in a few seconds: Slack would take minutes.
    await using team = await startWith(LABELS, { hasRateLimits: false });
    for (const [place, label] of LABELS.entries()) {
      const id = PERMANENT_ID + place;
      const manager = team.slack.as('mara').overlooksOldMessages();
      // 1003 is a label, too: two matches never act.
      const isAmbiguous = LABELS.includes(String(id)) || label === String(id);
      await manager.types(`/vps show ${id}`);
      if (isAmbiguous) await manager.chooses('Choose a server', String(id));
      await manager.sees('Paid until');
      // Before the answers to its buttons replace the card.
      expectNobodyIsPinged(team, 'mara');
      await manager.presses('Reboot');
      await manager.sees('rebooted');
      await manager.presses('Renew…');
      await manager.sees('We don’t know the price');
      await manager.closes();
      await manager.presses('Delete…');
      const word = deletionWord({ id, label });
      await manager.fills({ [`To confirm, type ${word}`]: 'something else' });
      await manager.presses('Delete');
      await manager.sees('That doesn’t match');
      await manager.fills({ [`To confirm, type ${word}`]: word });
      await manager.presses('Delete');
      await expect.poll(() => manager.modal()?.shown).toContain(' was deleted.');
      await manager.closes();
    }
    expect(team.hosting.listServers(team.account)).toEqual([]);
    await team.owner.types('/vps audit');
    await team.owner.sees('Audit log');
    const shown = team.owner.screen();
    await team.owner.presses('Older');
    await until(() => team.owner.screen() !== shown);
    expectNobodyIsPinged(team, 'mara');
  });

  it('can be picked in the menus', async () => {
    await using team = await startWith(LABELS.map((label) => `twin-${label}`.slice(0, 250)));
    for (const command of ['show', 'delete']) {
      const fresh = team.slack.as('mara').overlooksOldMessages();
      await fresh.types(`/vps ${command} twin`);
      await fresh.sees(`${LABELS.length} servers match`);
      if (fresh.modal()) await fresh.closes();
    }
    expect(changesSeen(team)).toEqual([]);
    expectNobodyIsPinged(team);
  });

  it('that is another server’s ID or address leads to a choice of servers, never to an action', async () => {
    await using team = await startWith(['1002', 'b', '198.18.3.234']);
    for (const typed of ['1002', '198.18.3.234']) {
      const fresh = team.operator.overlooksOldMessages();
      await fresh.types(`/vps reboot ${typed}`);
      await fresh.sees('2 servers match');
    }
    expect(changesSeen(team)).toEqual([]);
  });
});

it.concurrent('a server whose label changed after its delete form opened is not deleted with the old label', async () => {
  await using team = await startTeam({ servers: 1 });
  await fillDelete(team.manager);
  showServersAs(team, { label: 'db-prod' });
  await team.manager.presses('Delete');
  await team.manager.sees('web-1 wasn’t deleted: the server’s label has changed');
  expect(changesSeen(team)).toEqual([]);
});

describe.concurrent('ordering a strange label', () => {
  const orderable = LABELS.filter(
    (label) => label.trim() !== '' && label.length <= 255 && !/\p{Cc}/u.test(label),
  );

  it('shows it exactly as typed to the user, in the channel and in the audit, and pings no one', async () => {
    // An announcement for each of the labels: at Slack's one a second that alone is twenty seconds.
    await using team = await startTeam({ balanceMinor: 10_000_000, hasRateLimits: false });
    for (const label of orderable) {
      const manager = team.slack.as('mara').overlooksOldMessages();
      await manager.types('/vps create');
      await manager.fills({ Plan: 'micro', Location: 'ams', Image: 'debian-13', Label: label });
      await manager.presses('Review');
      await manager.sees('2.90 per month');
      await manager.presses('Create and pay');
      await manager.sees(/(was|is being) created \(/);
      await manager.closes();
    }
    const made = team.hosting.listServers(team.account).map(({ label }) => label);
    expect(made).toEqual(orderable.map((label) => label.trim()));
    await team.viewer.sees('created <!channel> *x*');
    await team.viewer.sees('created __proto__');
    await team.owner.overlooksOldMessages().types('/vps audit');
    await team.owner.sees(/Audit log[\s\S]*created 198\.18\.3\.234/);
    await team.owner.types('/vps status');
    await team.owner.sees('The hosting API is up');
    expectNobodyIsPinged(team, 'mara');
  });

  it.each(['   ', 'two\nlines', `${'z'.repeat(600)}`])('is refused before it is sent: %j', async (label) => {
    await using team = await startTeam();
    await team.manager.types(
      `/vps create plan=micro location=ams image=debian-13 label="${label.replace('\n', '\u0001')}"`,
    );
    await team.manager.sees(/can’t be used|Label|needs a value/);
    expect(changesSeen(team)).toEqual([]);
    expectNobodyIsPinged(team);
  });
});

it.concurrent('the stored password of a server can still be shown if the server’s ID is another server’s label', async () => {
  await using team = await startTeam();
  const { manager } = team;
  for (const label of ['first', '1001']) {
    await createServer(manager, label);
  }
  manager.reloads();
  await manager.types('/vps password 1001');
  await manager.sees('2 servers match');
  await manager.chooses('Choose a server', 'first');
  await manager.sees(team.hosting.passwordOf(1001) ?? 'none');
  expect(team.hosting.listServers(team.account).map(({ id }) => id)).toEqual([1001, 1002]);
  expect(await team.app.ports.passwords.listHeld(TEAM.id)).toHaveLength(2);
});
