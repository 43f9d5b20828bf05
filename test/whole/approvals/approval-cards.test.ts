import { describe, test } from 'vitest';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { movableSystem } from '../../support/movable-system.ts';
import { startRuledTeam, TWO_PERSONS } from '../../support/ruled-team.ts';

const OPS = 'C0OPS00001';
const RANDOM = 'C0RANDOM01';
const MINUTE_MS = 60_000;
const ORDER = '/vps create plan=small location=ams image=debian-13 label=web-1';

describe.concurrent('who is asked to approve', () => {
  test('is the channel of the settings, where any manager answers', async ({ expect }) => {
    await using team = await startRuledTeam({ ...TWO_PERSONS, channelId: OPS });
    const owner = team.slack.as('olga').in('#ops');
    await team.manager.types(ORDER);
    await team.manager.presses('Create and pay');
    await owner.sees('wants to create web-1');
    expect(team.owner.messages()).toEqual([]);
    await team.slack.as('vera').in('#ops').presses('Approve');
    await team.slack.as('vera').in('#ops').sees('This takes the role manager');
    await owner.presses('Approve');
    await team.manager.sees('I saved it');
    await team.slack.as('vera').in('#ops').sees('Approved by @olga');
    const password = team.hosting.passwordOf(team.hosting.listServers(team.account)[0]?.id ?? 0) ?? 'none';
    owner.doesNotSee(password);
  });

  test('is everybody directly when the app can’t write to that channel', async () => {
    await using team = await startRuledTeam({ ...TWO_PERSONS, channelId: RANDOM });
    await team.askCreate();
    await team.owner.presses('Approve');
    await team.manager.sees('I saved it');
  });

  test('is every manager and owner that is known, members of groups too, and nobody who may not', async ({
    expect,
  }) => {
    await using team = await startRuledTeam();
    const { grants } = team.app.ports;
    const given = { workspaceId: TEAM.id, role: 'manager', pattern: '', grantedBy: 'U1' } as const;
    await grants.put({ ...given, subjectKind: 'group', subjectId: 'S0ONCALL01', grantedAt: 0 });
    await grants.put({ ...given, subjectKind: 'user', subjectId: USERS.finn.id, grantedAt: 0 });
    await grants.put({ ...given, subjectKind: 'channel', subjectId: OPS, grantedAt: 0 });
    await team.askCreate();
    for (const who of ['otto', 'nora'] as const)
      await team.slack.as(who).in('dm').sees('wants to create web-1');
    const cards = async () =>
      (await team.app.ports.approvals.listOpen(TEAM.id)).flatMap((approval) => approval.cards);
    await expect.poll(cards).toHaveLength(3);
    expect(team.slack.as('vera').in('dm').messages()).toEqual([]);
    expect(team.slack.as('mara').in('dm').messages()).toEqual([]);
  });

  test('is said when it is nobody, and whoever may finds it in the status', async ({ expect }) => {
    await using team = await startRuledTeam(TWO_PERSONS, {
      settings: { OWNERS: USERS.mara.id },
      hasRoles: false,
    });
    await team.manager.types(ORDER);
    await team.manager.presses('Create and pay');
    await team.manager.sees('none could be reached by message');
    const admin = team.slack.as('olga').in('#ops');
    await admin.types('/vps status');
    await admin.sees('Waits for a second person');
    await admin.presses('Approve');
    await team.manager.sees('I saved it');
    expect(team.charges()).toBe(1);
    await admin.types('/vps access grant @vera viewer');
    await admin.sees('is now viewer');
    const viewer = team.slack.as('vera').in('#ops');
    await viewer.types('/vps status');
    await viewer.sees('Root passwords to save');
    viewer.doesNotSee('Waits for a second person');
  });
});

describe.concurrent('while Slack does not answer', () => {
  test('cards that could not be posted are posted later', async ({ expect }) => {
    const system = movableSystem();
    await using team = await startRuledTeam(TWO_PERSONS, { system });
    team.slack.faults.failMethod('chat.postMessage', 'fatal_error');
    team.slack.faults.failMethod('chat.postEphemeral', 'fatal_error');
    team.slack.faults.breakReplyUrls();
    await team.manager.types(ORDER);
    await team.manager.presses('Create and pay');
    await team.manager.sees('waits for another manager');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(team.owner.messages()).toEqual([]);
    team.slack.faults.clear();
    system.move(2 * MINUTE_MS);
    await team.owner.sees('wants to create web-1');
    system.move(2 * MINUTE_MS);
    await team.owner.presses('Approve');
    await team.manager.sees('I saved it');
    expect(team.owner.messages().filter(({ ephemeral }) => !ephemeral)).toHaveLength(1);
  });

  test('a decision that could not be told is told later, once', async ({ expect }) => {
    const system = movableSystem();
    await using team = await startRuledTeam(TWO_PERSONS, { system });
    await team.askCreate();
    team.slack.faults.failMethod('chat.postMessage', 'fatal_error');
    team.slack.faults.failMethod('chat.postEphemeral', 'fatal_error');
    team.slack.faults.failMethod('chat.update', 'fatal_error');
    team.slack.faults.breakReplyUrls();
    await team.owner.presses('Deny');
    await team.owner.sees('[Approve]');
    await new Promise((resolve) => setTimeout(resolve, 300));
    team.slack.faults.clear();
    for (const _ of [1, 2, 3]) {
      system.move(2 * MINUTE_MS);
      await team.manager.sees('did not approve it');
      await team.owner.sees('Denied by @olga');
      await new Promise((resolve) => setTimeout(resolve, 600));
    }
    expect(team.manager.messages().filter(({ shown }) => shown.includes('did not approve'))).toHaveLength(1);
  });

  test('who asked hears it directly when the channel can’t be reached any more', async () => {
    await using team = await startRuledTeam();
    await team.askCreate();
    team.slack.faults.breakReplyUrls();
    team.slack.faults.failMethod('chat.postEphemeral', 'not_in_channel');
    await team.owner.presses('Deny');
    await team.slack.as('mara').in('dm').sees('@olga did not approve it');
  });
});
