import { describe, expect, it } from 'vitest';
import { OTHER_TEAM, TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { startTeam } from '../../support/team.ts';

const WITHOUT_USERS = ['commands', 'chat:write', 'usergroups:read', 'channels:read', 'groups:read'];

describe('without the scope users:read', () => {
  it.each([
    '#ops',
    '<!subteam^S0ONCALL01|@oncall>',
  ])('a role for %s is refused with the scope named', async (subject) => {
    await using team = await startTeam({ scopes: WITHOUT_USERS });
    const owner = team.slack.as('olga').in('#ops');
    await owner.types(`/vps access grant ${subject} viewer`);
    await owner.sees('missing scope users:read');
    const grants = await team.app.ports.grants.list(TEAM.id);
    expect(grants.filter(({ subjectKind }) => subjectKind !== 'user')).toEqual([]);
  });

  it('a member of the Enterprise Grid who presses a button reads which scope is missing', async () => {
    await using team = await startTeam({ scopes: WITHOUT_USERS });
    team.hosting.seedServers(team.account, 1, 'web');
    team.slack.admin.joinGrid();
    const user = team.slack.admin.addUser({ id: 'W0GRETA001', name: 'greta', teamId: OTHER_TEAM.id });
    await team.app.ports.grants.put({
      workspaceId: TEAM.id,
      subjectKind: 'user',
      subjectId: user.id,
      role: 'operator',
      pattern: '',
      grantedBy: 'U0OWNER001',
      grantedAt: 0,
    });
    const colleague = team.slack.as(user).in('#ops');
    await colleague.types('/vps show web-1');
    await colleague.presses('Reboot');
    await colleague.sees('missing scope users:read');
  });
});
