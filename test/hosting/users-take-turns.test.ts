import { expect, test } from 'vitest';
import { isRefusal } from '../../src/core/errors.ts';
import { Secret } from '../../src/core/secret.ts';
import { createHosting } from '../../src/hosting/client.ts';
import type { HostingApi } from '../../src/hosting/hosting-api.ts';
import { TEAM, USERS } from '../../src/sandbox/slack/workspace.ts';
import { startTeam } from '../support/team.ts';
import { holdTime, memoryCalls, namesOf } from './support.ts';

const LIMIT = 10;
const MINUTE = 60_000;

/** A client of a service that answers at once and remembers what came, in the order in which it came. */
function start() {
  const { system, pass } = holdTime();
  const arrived: string[] = [];
  const hosting = createHosting({
    baseUrl: 'http://127.0.0.1:1/v1',
    timeoutMs: 1000,
    system,
    limit: LIMIT,
    calls: memoryCalls(),
    namesOf,
    transport: {
      send: async ({ method, path }) => {
        arrived.push(`${method} ${path}`);
        const [id] = path.match(/\d+/) ?? [];
        return { status: 200, text: method === 'GET' ? '[]' : `{"id":${id},"state":"running"}` };
      },
      close: async () => undefined,
    },
  });
  const as = (caller: string) => hosting.of(new Secret('a key'), TEAM.id, caller);
  return { hosting, arrived, pass, as };
}

/** Lets one user ask for this many different things at once; counts what is refused for that. */
async function flood(api: HostingApi, times: number, pass: (ms: number) => Promise<void>) {
  let refused = 0;
  for (let id = 1; id <= times; id++)
    void api.changePower('start', id).catch((error: unknown) => {
      if (isRefusal(error, 'too_many_waiting')) refused++;
    });
  await pass(100);
  return () => refused;
}

test('another user’s reboot waits for only a few calls of a user who requested a thousand things', async () => {
  const { hosting, arrived, pass, as } = start();
  const refused = await flood(as('the one who floods'), 1000, pass);
  expect(arrived).toHaveLength(LIMIT);
  expect(refused()).toBe(1000 - LIMIT - 100);
  const other = as('another one');
  const rebooted = other.fetchServers({ freshness: 'fresh' }).then(() => other.changePower('reboot', 7));
  await pass(2 * MINUTE);
  await rebooted;
  const place = arrived.indexOf('POST /servers/7/reboot');
  expect(arrived.slice(LIMIT, place).length).toBeLessThanOrEqual(LIMIT + 2);
  expect(arrived.slice(LIMIT, LIMIT + 2)).toContain('GET /servers');
  await hosting.close();
});

test('no user waits for a read in another user’s queue', async () => {
  const { hosting, arrived, pass, as } = start();
  const flooding = as('the one who floods');
  await flood(flooding, 90, pass);
  void flooding.fetchServers().catch(() => undefined);
  const read = as('another one').fetchServers();
  await pass(MINUTE + 1000);
  await read;
  expect(arrived.slice(LIMIT, LIMIT + 2)).toContain('GET /servers');
  await hosting.close();
});

test('a user who requests too much is refused, and others are not', async () => {
  await using team = await startTeam();
  team.hosting.seedServers(team.account, 500, 'web');
  const otto = team.app.ports.hostingOf(new Secret(team.apiKey), TEAM.id, USERS.otto.id);
  const ids = team.hosting.listServers(team.account).map(({ id }) => id);
  for (const id of ids) void otto.changePower('start', id).catch(() => undefined);
  await expect.poll(() => otto.budget(), { timeout: 40_000 }).toMatchObject({ taken: 300, waiting: 100 });
  const operator = team.slack.as('otto').in('#ops');
  await operator.types('/vps reboot web-1');
  await operator.sees('Too many of your requests are waiting');
  const manager = team.slack.as('mara').in('#ops');
  await manager.types('/vps reboot web-2');
  await expect.poll(() => otto.budget().waiting).toBe(101);
  manager.doesNotSee('Too many');
});
