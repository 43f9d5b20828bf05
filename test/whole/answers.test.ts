import { describe, expect, it } from 'vitest';
import { startTeam } from '../support/team.ts';

describe('an answer', () => {
  it('arrives as an ephemeral message when Slack’s reply address fails', async () => {
    await using team = await startTeam();
    team.hosting.seedServers(team.account, 1, 'web');
    team.slack.faults.breakReplyUrls();
    const vera = team.slack.as('vera').in('#ops');
    await vera.types('/vps stop web-1');
    await vera.sees('operator');
    expect(team.slack.traffic().map(({ what }) => what)).toContain('chat.postEphemeral');
  });

  it('arrives as a direct message when ephemeral messages fail, too', async () => {
    await using team = await startTeam();
    team.hosting.seedServers(team.account, 1, 'web');
    team.slack.faults.breakReplyUrls();
    team.slack.faults.failMethod('chat.postEphemeral', 'not_in_channel');
    await team.slack.as('otto').in('#ops').types('/vps show web-1');
    await team.slack.as('otto').in('dm').sees('Paid until');
  });

  it('arrives as plain text when Slack refuses its blocks', async () => {
    await using team = await startTeam();
    team.hosting.seedServers(team.account, 1, 'web');
    team.slack.faults.refuseBlock('section');
    const vera = team.slack.as('vera').in('#ops');
    await vera.types('/vps show web-1');
    await vera.sees('web-1');
    await vera.sees('running');
  });
});

describe('a form that Slack refuses to open', () => {
  it('is not reported as too slow', async () => {
    await using team = await startTeam();
    team.hosting.seedServers(team.account, 1, 'web');
    const manager = team.slack.as('mara').in('#ops');
    team.slack.faults.failMethod('views.open', 'invalid_arguments', 1);
    await manager.types('/vps delete web-1');
    await manager.sees('Slack refused to open the form');
    expect(manager.screen()).not.toContain('too slow');
    await manager.presses('Delete a server…');
    await manager.sees('no refund');
  });
});
