import { describe, expect, it } from 'vitest';
import { orderOf } from '../../support/acts.ts';
import { runProgram } from '../../support/programs.ts';
import { rawUser } from '../../support/raw-user.ts';
import { startDigestTeam } from '../../support/ruled-team.ts';
import { startTeam, type Team } from '../../support/team.ts';

const PART = 'The hosting API returned only part of the list.';
const UNKNOWN = 'db-1 isn’t in the part of the list we received, so we can’t tell whether it exists.';

/** The hosting API lists one server, and says that there are more. */
const PART_ONLY = { answers: { paging: 'has_more', pageSize: 1 } } as const;

/** web-1 and db-1, of which the hosting API lists only web-1, and says that there are more. */
async function startPart(): Promise<Team> {
  const team = await startTeam({ servers: 1, hasRateLimits: false, hosting: PART_ONLY });
  team.hosting.seedServers(team.account, 1, 'db');
  return team;
}

const runVps = ({ environment }: Team, ...args: readonly string[]) =>
  runProgram(['vps', ...args], environment);

/** Each message and modal with a number of servers says it, and none of them says that there are no more. */
function expectHonest(screen: ReturnType<Team['slack']['as']>): void {
  const shown = [...screen.messages(), ...[screen.modal() ?? []].flat()].map((each) => each.shown);
  for (const words of shown) {
    expect(words).not.toMatch(/No servers? match|There are no servers/);
    if (/\d servers?\b/.test(words)) expect(words).toContain(PART);
  }
}

describe.concurrent('where the hosting API returns only part of the list', () => {
  it('every command says that the list is incomplete', async () => {
    const typed = [
      '/vps',
      '/vps list',
      '/vps list web',
      '/vps list db',
      '/vps show',
      '/vps show web-1',
      '/vps note web-1 ask @otto first',
      '/vps stop web-1 db-1',
      '/vps start web-1',
      '/vps reboot',
      '/vps reboot web-1',
      '/vps reboot web-*',
      '/vps renew',
      '/vps renew web-1',
      '/vps delete',
      '/vps delete web-1',
      orderOf('db-1'),
      '/vps costs',
      '/vps reminders',
      '/vps status',
    ];
    for (const commands of [typed, ['@vps list', '@vps reboot web-1']]) {
      await using team = await startPart();
      for (const command of commands) {
        team.owner.overlooksOldMessages();
        await team.owner.types(command);
        await team.owner.sees(PART);
        expectHonest(team.owner);
        if (team.owner.modal()) await team.owner.closes();
      }
    }
  });

  it('no command on a server that isn’t in it says that there is none', async () => {
    await using team = await startPart();
    const { owner } = team;
    for (const verb of ['show', 'note', 'start', 'stop', 'reboot', 'renew', 'delete']) {
      owner.overlooksOldMessages();
      await owner.types(`/vps ${verb} db-1${verb === 'note' ? ' ask @otto first' : ''}`);
      await owner.sees(UNKNOWN);
      await owner.sees(PART);
      owner.doesNotSee('Did you mean');
      expectHonest(owner);
      if (owner.modal()) await owner.closes();
    }
  });

  it('a pattern’s confirmation says that the list is incomplete, also if nothing matches', async () => {
    await using team = await startPart();
    const { operator } = team;
    await operator.types('/vps reboot * db-1');
    await operator.sees('Reboot web-1?');
    await operator.sees(PART);
    await operator.sees(UNKNOWN);
    await operator.types('/vps reboot db-*');
    await operator.sees(
      'No server in the part of the list we received matches db-*, so we can’t tell whether one exists.',
    );
    expectHonest(operator);
  });

  it('Home, its cards and its buttons say that the list is incomplete', async ({ expect }) => {
    await using team = await startPart();
    const operator = team.slack.as('otto').in('dm');
    await operator.opensHome();
    await operator.sees(PART);
    expect(operator.home()?.shown.split(PART)).toHaveLength(2);
    await operator.presses('Manage');
    await expect.poll(() => operator.modal()?.shown ?? '').toContain(PART);
    await operator.presses('Reboot');
    await expect.poll(() => operator.modal()?.shown ?? '').toMatch(/reboot(ed|ing)/i);
    expect(operator.modal()?.shown.split(PART)).toHaveLength(2);
  });

  it('both shortcuts and direct messages say that the list is incomplete', async ({ expect }) => {
    await using team = await startPart();
    await team.slack.posts('#ops', { text: 'db-1 is down' });
    await team.operator.usesMessageShortcut('manage_server', 'db-1 is down');
    await team.operator.sees('No server found in this message');
    await team.operator.sees(PART);
    await team.operator.closes();
    const by = rawUser(team, 'otto');
    await by.uses('shortcut', 'servers', '');
    await expect.poll(by.modal).toContain(PART);
    await team.operator.closes();
    const direct = team.operator.in('dm');
    await direct.types('show db-1');
    await direct.sees(UNKNOWN);
    await direct.sees(PART);
  });

  it('menus that search say above their choices that the list is incomplete', async () => {
    await using team = await startPart();
    const by = rawUser(team, 'otto');
    const { response } = await by.types('pick_reboot', 'web');
    expect(JSON.parse(response)).toMatchObject({
      option_groups: [
        { label: { text: PART }, options: [{ text: { text: expect.stringContaining('web-1') } }] },
      ],
    });
    expect(JSON.parse((await by.types('pick_reboot', 'db')).response)).toEqual({ options: [] });
  });

  it('no create is sent, and nothing is charged', async () => {
    await using team = await startPart();
    await team.manager.types(orderOf('new-1'));
    await team.manager.presses('Create and pay');
    await team.manager.sees(`new-1 wasn’t created, and nothing was charged. ${PART}`);
    expect(team.hosting.requests({ operation: 'create' })).toEqual([]);
  });

  it('a role for a pattern is granted without a count of what the pattern matches', async () => {
    await using team = await startPart();
    await team.owner.types('/vps access grant @nora operator on db-*');
    await team.owner.sees(/nora is now an? operator for db-\*\./);
    expectHonest(team.owner);
  });

  it('the digest, /vps reminders and Renew all each say once that the list is incomplete', async ({
    expect,
  }) => {
    await using team = await startDigestTeam(
      {},
      { hosting: { answers: { ...PART_ONLY.answers, pageSize: 2 } } },
    );
    team.hosting.seedServers(team.account, 3, 'web');
    team.untilDigest(25);
    await team.manager.sees('Daily digest');
    expect(team.digests()[0]?.split(PART)).toHaveLength(2);
    await team.manager.types('/vps reminders');
    await expect.poll(() => team.manager.messages().at(-1)?.shown).toContain('Upcoming renewals');
    expect(team.manager.messages().at(-1)?.shown.split(PART)).toHaveLength(2);
    await team.manager.presses('Renew all…');
    await expect.poll(() => team.manager.modal()?.shown).toContain('One more month for 2 servers');
    expect(team.manager.modal()?.shown.split(PART)).toHaveLength(2);
  });

  it('npm run vps says on stderr that the list is incomplete, and never that no server matches', async () => {
    await using team = await startPart();
    const listed = await runVps(team, 'list');
    expect(listed).toMatchObject({ code: 0, words: `${PART}\n` });
    expect(listed.output).toContain('web-1');
    expect(await runVps(team, 'list', 'db')).toMatchObject({
      output: 'No listed server matches, but some servers may be missing.\n',
      words: `${PART}\n`,
    });
    expect(await runVps(team, 'reboot', 'db-1', '--yes')).toMatchObject({
      code: 1,
      words: `${PART}\ndb-1 isn’t in the part of the list we received, so we can’t tell whether it exists.\n`,
    });
  });
});
