import { expect, it } from 'vitest';
import { startCpuTimer } from '../../support/cpu-time.ts';
import { rawUser } from '../../support/raw-user.ts';
import { startTeam } from '../../support/team.ts';

const SERVERS = 5000;
const MOST_MS = 100;

it('each letter typed into a menu of 5,000 servers is answered from memory, with under 100 ms of CPU time', async () => {
  await using team = await startTeam();
  team.hosting.seedServers(team.account, SERVERS, 'web');
  const by = rawUser(team, 'otto');
  await by.types('pick_reboot', '');
  const requests = team.hosting.requests().length;
  let least = Number.POSITIVE_INFINITY;
  for (const letters of ['w', 'we', 'web', 'web-', 'web-4', 'web-43', 'web-432', 'web-4321']) {
    const readMs = startCpuTimer();
    const { response } = await by.types('pick_reboot', letters);
    least = Math.min(least, readMs());
    expect(JSON.parse(response).options.length).toBe(
      letters === 'web-4321' ? 1 : letters === 'web-432' ? 11 : 100,
    );
  }
  expect(least).toBeLessThan(MOST_MS);
  expect(team.hosting.requests()).toHaveLength(requests);
});

it('a menu that searches keeps using its list for longer than commands do, and reads it again after a change', async () => {
  await using team = await startTeam();
  const [id = 0] = team.hosting.seedServers(team.account, 3, 'web');
  const by = rawUser(team, 'otto');
  await by.types('pick_reboot', 'w');
  const readOf = () => team.hosting.requests({ operation: 'servers' }).length;
  expect(readOf()).toBe(1);
  // Longer than a list is shared by commands.
  await new Promise((resolve) => setTimeout(resolve, 2300));
  await by.types('pick_reboot', 'we');
  expect(readOf()).toBe(1);
  const before = by.mark();
  await by.presses('stop', { id });
  await by.seesChange(before);
  const { response } = await by.types('pick_reboot', 'web-1');
  expect(response).toContain('stopped');
});
