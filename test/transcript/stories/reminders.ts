import type { Scene } from '../scene.ts';
import { DAY_MS, HOUR_MS } from '../scene.ts';
import type { Stories } from '../stories.ts';

/** The owner has chosen #ops for the digest, and it is nine on a day on which the servers end within the week. */
async function untilDigest(scene: Scene): Promise<void> {
  const olga = scene.as('olga');
  await olga.types('/vps settings notifications');
  await olga.fills({ 'Digest channel': '#ops', 'Time zone': 'UTC' });
  await olga.presses('Save');
  await olga.sees('Settings saved');
  await olga.closes();
  await scene.passes(26 * DAY_MS + 1.5 * HOUR_MS, 'twenty-six days pass, until half past nine');
  await olga.sees('Daily digest');
}

export const REMINDERS: Stories = {
  'the digest, a reminder that is put off, and one that ends': async (start) => {
    const scene = await start({ servers: { web: 3 } });
    await untilDigest(scene);
    await scene.as('otto').presses('Snooze 1 day');
    await scene.as('otto').sees('are snoozed until');
    await scene.as('otto').presses('Let it expire');
    await scene.as('mara').presses('Let it expire');
    await scene.as('mara').sees('No more reminders for');
    await scene.as('vera').types('/vps reminders');
  },
  'a renewal from the digest': async (start) => {
    const scene = await start({ servers: { web: 2 } });
    await untilDigest(scene);
    const mara = scene.as('mara');
    await mara.presses('Renew and pay…');
    await mara.presses('Renew and pay');
    await mara.sees('was renewed');
  },
  'renew all': async (start) => {
    const scene = await start({ servers: { web: 3 } });
    await untilDigest(scene);
    const mara = scene.as('mara');
    await scene.as('otto').presses('Renew all…');
    await mara.presses('Renew all…');
    await mara.presses('Renew and pay');
    await mara.sees('3 servers were renewed');
  },
  'renew all, with one refused and one unclear': async (start) => {
    const scene = await start({ servers: { web: 3 } });
    await untilDigest(scene);
    const mara = scene.as('mara');
    await mara.presses('Renew all…');
    await scene.fails({ on: 'renew', kind: 'error', code: 'not_enough_balance' });
    await scene.fails({ on: 'renew', kind: 'lost_before' });
    await mara.presses('Renew and pay');
    await mara.sees(/of 3 servers (was|were) renewed/);
  },
  'the next day’s digest, with what changed outside of the app': async (start) => {
    const scene = await start({ servers: { web: 3 } });
    await untilDigest(scene);
    const { hosting, account } = scene.team;
    await scene.does(
      '(web-1 is deleted, web-2 is stopped and new-1 is made on the hosting account’s page)',
      () => {
        hosting.servers.remove(account, '1001');
        hosting.servers.power(account, '1002', 'stop');
        hosting.seedServers(account, 1, 'new');
      },
    );
    await scene.passes(DAY_MS, 'a day passes');
    await scene.as('vera').sees('outside this workspace');
  },
  'reminders without a digest': async (start) => {
    const scene = await start({ servers: { web: 1 } });
    await scene.as('vera').types('/vps reminders');
    await scene.passes(27 * DAY_MS, 'four weeks pass');
    await scene.as('mara').types('/vps reminders');
    await scene.as('nora').types('/vps reminders');
    await scene.passes(8 * DAY_MS, 'a week passes');
    await scene.as('vera').types('/vps show web-1');
  },
};
