import { describe, expect, test } from 'vitest';
import { startTeam } from '../../support/team.ts';

/** @nora is a viewer for `web-*`; the account also has a server of another team. */
async function startLimited() {
  const team = await startTeam();
  const owner = team.slack.as('olga').in('#ops');
  await owner.types('/vps access grant @nora viewer on web-*');
  await owner.sees('@nora is now a viewer');
  team.hosting.seedServers(team.account, 1, 'web');
  const [id = 0] = team.hosting.seedServers(team.account, 1, 'payroll');
  const secret = team.hosting.listServers(team.account).find((server) => server.id === id);
  return {
    team,
    id,
    ipv4: secret?.ipv4 ?? '',
    label: secret?.label ?? '',
    nora: team.slack.as('nora').in('#ops'),
  };
}

describe('a viewer for web-*', () => {
  test('learns no other label by ID, address, beginning or misspelling', async () => {
    const { team, id, ipv4, label, nora } = await startLimited();
    await using _ = team;
    expect(label).toMatch(/^payroll/);
    for (const typed of [String(id), ipv4, 'p', 'payr', 'pyaroll-1', 'payrolls']) {
      for (const act of ['show', 'reboot', 'delete']) {
        nora.overlooksOldMessages();
        await nora.types(`/vps ${act} ${typed}`);
        await nora.sees(/role|no server/i);
        nora.doesNotSee(label);
      }
    }
  });

  test('learns no other label from /vps status', async () => {
    const { team, nora } = await startLimited();
    await using _ = team;
    team.hosting.faults.add({ on: 'create', kind: 'lost_before' });
    // Not in #ops, where what is ordered is announced to everyone.
    const mara = team.slack.as('mara').in('dm');
    await mara.types('/vps create plan=small location=ams image=debian-13 label=payroll-2');
    await mara.presses('Create and pay');
    await mara.types('/vps status');
    await mara.sees(/payroll-2/);
    await nora.types('/vps status');
    await nora.sees(/hosting API/i);
    nora.doesNotSee('payroll');
  });
});
