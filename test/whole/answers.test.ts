import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { USERS } from '../../src/sandbox/slack/workspace.ts';
import { startTeam } from '../support/team.ts';

/** A list of so many servers is a table, which doesn't ride on the ack of its command. */
const LONG = 21;

describe.concurrent('an answer', () => {
  it('appears once, whatever Slack says when it accepts it', async ({ expect }) => {
    await using team = await startTeam({ servers: LONG });
    const otto = team.slack.as('otto');
    const answers = () => team.slack.traffic().filter(({ what }) => /^(response_url|chat\.)/.test(what));
    for (const body of ['', '{"ok":true}', 'success']) {
      const before = answers().length;
      team.slack.faults.replyAnswer = body;
      otto.overlooksOldMessages();
      await otto.types('/vps list');
      await otto.sees('21 servers');
      await otto.types('/vps list web');
      await expect.poll(() => answers().length).toBe(before + 2);
    }
    expect(new Set(answers().map(({ what }) => what))).toEqual(new Set(['response_url']));
  });

  it('repeats a filter as it was typed, without a mention, a link or a format', async () => {
    await using team = await startTeam();
    const otto = team.slack.as('otto');
    for (const filter of ['<!channel>', '<https://evil.example|web>', 'a&lt;b', '*web* _1_']) {
      await otto.types(`/vps list ${filter}`);
      await otto.sees(`No servers match ${filter}.`);
      expect(otto.messages().at(-1)?.text).not.toMatch(/<[@!h]/);
    }
  });

  it('arrives as an ephemeral message when Slack’s reply address fails, and as a direct message when that fails, too', async () => {
    await using team = await startTeam({ servers: LONG });
    team.slack.faults.breakReplyUrls();
    const otto = team.slack.as('otto');
    await otto.types('/vps list');
    await otto.sees('21 servers');
    expect(team.slack.traffic().map(({ what }) => what)).toContain('chat.postEphemeral');
    team.slack.faults.failMethod('chat.postEphemeral', 'not_in_channel');
    await otto.types('/vps list');
    await team.slack.as('otto').in('dm').sees('21 servers');
  });

  it('arrives as plain text when Slack refuses its blocks', async () => {
    await using team = await startTeam({ servers: LONG });
    team.slack.faults.refuseBlock('section');
    const vera = team.slack.as('vera');
    await vera.types('/vps list');
    await vera.sees('21 servers');
    await vera.sees('web-1');
  });
});

describe.concurrent('a form that Slack doesn’t open', () => {
  it('is offered again if Slack doesn’t answer, without saying that it was refused', async () => {
    await using team = await startTeam({ servers: 1 });
    const { manager } = team;
    team.slack.faults.loseAnswers('views.open');
    await manager.types('/vps delete web-1');
    await manager.sees('If the form isn’t open, or stays on “Loading…”, press the button');
    manager.doesNotSee('refused');
    expect(manager.modal()?.shown).toContain('Loading…');
    await manager.closes();
    await manager.presses('Delete a server…');
    await manager.sees('no refund');
  });
});

const FORMER = 'T0FORMER01';

it.concurrent('the requests of a former workspace are refused, whatever is still stored of it', async () => {
  await using team = await startTeam();
  const { slack, app } = team;
  const { workspaces, apiKeys, audit } = app.ports;
  team.hosting.seedServers(team.account, 1, 'web');
  await workspaces.put({ id: FORMER, name: 'Former' });
  await apiKeys.put(FORMER, new Secret(team.apiKey), USERS.olga.id, 0);
  const fields = slack.commandFields('olga', '#ops', 'reboot web-1');
  await slack.deliverSigned({ fields: { ...fields, team_id: FORMER } });
  await slack.as('olga').sees('isn’t set up for this workspace');
  expect(team.hosting.requests()).toEqual([]);
  const [entry] = await audit.list({ workspaceId: FORMER, limit: 9 });
  expect(entry).toMatchObject({ outcome: 'denied', code: 'other_workspace' });
});

it.concurrent('users are asked to try again while Slack has not said which workspace the token is for', async () => {
  await using team = await startTeam();
  team.slack.faults.failMethod('auth.test', 'internal_error');
  await team.restart();
  await team.owner.types('/vps list');
  await team.owner.sees('Try again in a minute');
});
