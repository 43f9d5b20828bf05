import { describe, test } from 'vitest';
import { APPROVALS } from '../../../src/requests/request.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { movableSystem } from '../../support/movable-system.ts';
import { untilRefused } from '../../support/refused-calls.ts';
import { startRuledTeam, TWO_PERSONS } from '../../support/ruled-team.ts';

const OPS = 'C0OPS00001';
const RANDOM = 'C0RANDOM01';
const MINUTE_MS = 60_000;
/** For what must come, on a machine that may be busy. */
const LONG_MS = 20_000;
const ORDER = '/vps create plan=small location=ams image=debian-13 label=web-1';

describe.concurrent('who is asked to approve', () => {
  test('is the channel in the settings, where any manager can answer', async ({ expect }) => {
    await using team = await startRuledTeam({ ...TWO_PERSONS, channelId: OPS });
    const owner = team.slack.as('olga').in('#ops');
    await team.manager.types(ORDER);
    await team.manager.presses('Request approval');
    await owner.sees('wants to create web-1');
    expect(team.owner.messages()).toEqual([]);
    await team.slack.as('vera').in('#ops').presses('Approve');
    await team.slack.as('vera').in('#ops').sees('You need the manager role');
    await owner.presses('Approve');
    await team.manager.sees("I've saved it");
    await team.slack.as('vera').in('#ops').sees('Approved by @olga');
    const password = team.hosting.passwordOf(team.hosting.listServers(team.account)[0]?.id ?? 0) ?? 'none';
    owner.doesNotSee(password);
  });

  test('is every manager directly when the app can’t post in the approvals channel', async () => {
    await using team = await startRuledTeam({ ...TWO_PERSONS, channelId: RANDOM });
    await team.askCreate();
    await team.owner.presses('Approve');
    await team.manager.sees("I've saved it");
  });

  test('is every known manager and owner, including group members, and no other user', async ({ expect }) => {
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
      (await team.app.ports.requests.listOpen(TEAM.id, APPROVALS)).flatMap((approval) => approval.cards);
    await expect.poll(cards).toHaveLength(3);
    expect(team.slack.as('vera').in('dm').messages()).toEqual([]);
    expect(team.slack.as('mara').in('dm').messages()).toEqual([]);
  });

  test('is nobody when no manager is known: the requester is told, and a manager finds the request in /vps status', async ({
    expect,
  }) => {
    await using team = await startRuledTeam(TWO_PERSONS, {
      settings: { OWNERS: USERS.mara.id },
      hasRoles: false,
    });
    await team.manager.types(ORDER);
    await team.manager.presses('Request approval');
    await team.manager.sees('We couldn’t message a manager');
    const admin = team.slack.as('olga').in('#ops');
    await admin.types('/vps status');
    await admin.sees('Waiting for approval');
    await admin.presses('Approve');
    await team.manager.sees("I've saved it");
    expect(team.charges()).toBe(1);
    await admin.types('/vps access grant @vera viewer');
    await admin.sees('is now a viewer');
    const viewer = team.slack.as('vera').in('#ops');
    await viewer.types('/vps status');
    await viewer.sees('Unsaved root passwords');
    viewer.doesNotSee('Waiting for approval');
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
    await team.manager.presses('Request approval');
    await team.manager.sees('Waiting for another manager');
    // The requester is told last that no manager could be reached.
    await untilRefused(team, 'chat.postMessage', USERS.mara.id);
    expect(team.owner.messages()).toEqual([]);
    team.slack.faults.clear();
    system.move(2 * MINUTE_MS);
    await team.owner.sees('wants to create web-1', LONG_MS);
    system.move(2 * MINUTE_MS);
    await team.owner.presses('Approve');
    await team.manager.sees("I've saved it", LONG_MS);
    expect(team.owner.messages().filter(({ ephemeral }) => !ephemeral)).toHaveLength(1);
  });

  test('a requester who could not be notified of the decision is notified later, once', async ({
    expect,
  }) => {
    const system = movableSystem();
    await using team = await startRuledTeam(TWO_PERSONS, { system });
    await team.askCreate();
    team.slack.faults.failMethod('chat.postMessage', 'fatal_error');
    team.slack.faults.failMethod('chat.postEphemeral', 'fatal_error');
    team.slack.faults.failMethod('chat.update', 'fatal_error');
    team.slack.faults.breakReplyUrls();
    await team.owner.presses('Deny');
    await team.owner.sees('[Approve]');
    // The card is updated first and the requester is told last: with a direct message, where nothing else got through.
    await untilRefused(team, 'chat.update');
    await untilRefused(team, 'chat.postMessage', USERS.mara.id);
    team.slack.faults.clear();
    // The form that the requester left open shows the outcome as well; only the message counts here.
    const outcomes = () => team.manager.messages().filter(({ shown }) => shown.includes('declined:'));
    system.move(2 * MINUTE_MS);
    await expect.poll(outcomes).toHaveLength(1);
    await team.owner.sees('Denied by @olga', LONG_MS);
    for (const _ of [1, 2]) {
      system.move(2 * MINUTE_MS);
      // Time for the sweep to send it again, which it must not.
      await new Promise((resolve) => setTimeout(resolve, 600));
    }
    expect(outcomes()).toHaveLength(1);
  });

  test('the requester gets a direct message when the channel of the request can’t be reached anymore', async () => {
    await using team = await startRuledTeam();
    await team.askCreate();
    team.slack.faults.breakReplyUrls();
    team.slack.faults.failMethod('chat.postEphemeral', 'not_in_channel');
    await team.owner.presses('Deny');
    await team.slack.as('mara').in('dm').sees('@olga declined:');
  });
});
