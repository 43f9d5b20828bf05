import { describe, expect, it } from 'vitest';
import { TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { rawUser } from '../../support/raw-user.ts';
import { startTeam, type Team } from '../../support/team.ts';

async function startInGrid() {
  const team = await startTeam();
  team.hosting.seedServers(team.account, 2, 'web');
  team.slack.admin.joinGrid();
  return team;
}

const idsOf = (team: Team) => team.hosting.listServers(team.account).map(({ id }) => id);

describe('a workspace of an Enterprise Grid', () => {
  it('works like any other, with IDs that begin with W', async () => {
    await using team = await startInGrid();
    const { slack } = team;
    const wanda = slack.admin.addUser({ id: 'W0WANDA001', name: 'wanda' });
    const owner = slack.as('olga').in('#ops');
    await owner.types(`/vps access grant <@${wanda.id}|wanda> operator`);
    await owner.sees('@wanda is now an operator');
    const screen = slack.as(wanda).in('#ops');
    await screen.types('/vps show web-1');
    await screen.presses('Reboot');
    await screen.sees('rebooted web-1');
    await owner.types(`/vps audit <@${wanda.id}|wanda>`);
    await owner.sees('@wanda reboot');
    expect(slack.brokenRules()).toEqual([]);
  });

  it('accepts a member whose home is another workspace of the Grid', async () => {
    await using team = await startInGrid();
    const elsewhere = team.slack.admin.addUser({ id: 'W0ELSE0001', name: 'else', teamId: 'T0ACME0001' });
    await team.app.ports.grants.put({
      workspaceId: TEAM.id,
      subjectKind: 'user',
      subjectId: elsewhere.id,
      role: 'operator',
      pattern: '',
      grantedBy: 'U0',
      grantedAt: 0,
    });
    const by = rawUser(team, elsewhere, 'nora');
    const [id] = idsOf(team);
    await by.presses('reboot', { id });
    await expect.poll(async () => (await by.audit())[0]).toMatchObject({ action: 'reboot', outcome: 'done' });
  });

  it('is not mistaken for the whole organization, whose payloads name no workspace', async () => {
    await using team = await startInGrid();
    const by = rawUser(team, 'mara');
    const actions = [
      { action_id: 'reboot', block_id: 'b', type: 'button', value: JSON.stringify({ id: idsOf(team)[0] }) },
    ];
    const known = { id: by.id, team_id: TEAM.id };
    await by.interacts('block_actions', { team: null, user: known, actions });
    await expect.poll(() => by.audit()).toHaveLength(2);
    await by.interacts('block_actions', { team: null, user: { id: by.id, team_id: 'E0SANDBOX' }, actions });
    await by.interacts('block_actions', { team: null, user: { id: by.id }, actions });
    expect(await by.audit()).toHaveLength(2);
    expect(team.hosting.requests().filter(({ method }) => method !== 'GET')).toHaveLength(1);
  });
});
