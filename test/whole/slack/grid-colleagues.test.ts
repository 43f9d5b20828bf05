import { describe, expect, it } from 'vitest';
import { OTHER_TEAM, TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { rawUser } from '../../support/raw-user.ts';
import { startTeam } from '../../support/team.ts';

/** A manager who is a member of this workspace and at home in another one of the same Enterprise Grid. */
async function startWithColleague() {
  const team = await startTeam();
  team.slack.admin.joinGrid();
  team.hosting.seedServers(team.account, 1, 'web');
  const user = team.slack.admin.addUser({ id: 'W0GRETA001', name: 'greta', teamId: 'T0ACME0001' });
  await team.app.ports.grants.put({
    workspaceId: TEAM.id,
    subjectKind: 'user',
    subjectId: user.id,
    role: 'manager',
    pattern: '',
    grantedBy: 'U0OWNER001',
    grantedAt: 0,
  });
  return Object.assign(team, { colleague: team.slack.as(user).in('#ops') });
}

describe('a colleague from another workspace of the same Enterprise Grid', () => {
  it('orders a server, from the form to the payment', async () => {
    await using team = await startWithColleague();
    await team.colleague.types('/vps create');
    await team.colleague.fills({ Plan: 'small', Location: 'ams', Image: 'debian-13', Label: 'grid-1' });
    await team.colleague.submits();
    await team.colleague.presses('Create and pay');
    await team.colleague.sees('grid-1 is being created');
    expect(team.hosting.charges(team.account)).toHaveLength(1);
    expect(team.slack.brokenRules()).toEqual([]);
  });

  it('deletes a server that they may delete', async () => {
    await using team = await startWithColleague();
    await team.colleague.types('/vps delete web-1');
    await team.colleague.fills({ 'To confirm, type web-1': 'web-1' });
    await team.colleague.presses('Delete');
    await team.colleague.sees('web-1 was deleted');
  });
});

describe('a user of another organization who submits a form', () => {
  it('is refused, and the workspace’s audit log records the attempt', async () => {
    await using team = await startTeam();
    const outsider = rawUser(team, 'sam');
    await outsider.interacts('view_submission', {
      team: { id: OTHER_TEAM.id, domain: OTHER_TEAM.domain },
      view: {
        id: 'V0CLOSED01',
        team_id: OTHER_TEAM.id,
        app_installed_team_id: TEAM.id,
        type: 'modal',
        callback_id: 'delete',
        private_metadata: JSON.stringify({
          o: { formId: 'F1' },
          m: { serverId: 1, label: 'web-1', word: 'web-1' },
        }),
        state: { values: { label: { 'delete.label': { type: 'plain_text_input', value: 'web-1' } } } },
      },
    });
    await expect
      .poll(async () => (await outsider.audit())[0])
      .toMatchObject({ action: 'delete', outcome: 'denied', code: 'other_organization' });
  });
});
