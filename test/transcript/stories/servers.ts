import { MINUTE_MS } from '../scene.ts';
import type { Stories } from '../stories.ts';

export const SERVERS: Stories = {
  'help for each role': async (start) => {
    const scene = await start();
    for (const name of ['olga', 'mara', 'otto', 'vera', 'nora'] as const)
      await scene.as(name).types('/vps help');
    await scene.as('mara').types('/vps help create');
    await scene.as('vera').types('/vps hlep');
  },
  'the plans': async (start) => {
    const scene = await start();
    await scene.as('vera').types('/vps catalog');
    await scene.as('nora').types('/vps catalog');
  },
  'a list of none': async (start) => {
    const scene = await start();
    await scene.as('vera').types('/vps list');
    await scene.as('mara').types('/vps list');
    await scene.as('vera').types('/vps');
  },
  'a list of one': async (start) => {
    const scene = await start({ servers: { web: 1 } });
    await scene.as('vera').types('/vps list');
    await scene.as('mara').types('/vps list');
    await scene.as('nora').types('/vps list');
  },
  'a list of thirty, and filtered ones': async (start) => {
    const scene = await start({ servers: { web: 28, db: 2 } });
    const vera = scene.as('vera');
    await vera.types('/vps list');
    await vera.chooses('Manage a server', 'web-20');
    await vera.types('/vps list db');
    await vera.types('/vps list nothing');
  },
  'a list of two hundred': async (start) => {
    const scene = await start({ servers: { web: 200 } });
    await scene.as('vera').types('/vps list');
    await scene.as('vera').presses('Next');
    await scene.as('otto').types('/vps list web-19');
  },
  'a card for each role, refreshed': async (start) => {
    const scene = await start({ servers: { web: 1 } });
    for (const name of ['mara', 'otto', 'vera', 'nora'] as const)
      await scene.as(name).types('/vps show web-1');
    await scene.passes(3 * MINUTE_MS, 'three minutes pass');
    await scene.as('vera').presses('Refresh');
  },
  'a server is found by ID, address, letter case and the beginning of its label, and not by a typing error':
    async (start) => {
      const scene = await start({ servers: { web: 2, db: 1 } });
      const vera = scene.as('vera');
      for (const name of ['1003', '203.0.113.1', 'DB-1', 'd', 'web', 'wbe-1', ''])
        await vera.types(`/vps show ${name}`.trim());
    },
  'reboot, stop and start by command': async (start) => {
    const scene = await start({ servers: { web: 3 } });
    const otto = scene.as('otto');
    await otto.types('/vps reboot web-1');
    await otto.types('/vps stop web-2');
    await otto.types('/vps start web-2');
    await otto.types('/vps start web-3');
    await scene.as('vera').types('/vps reboot web-1');
    await otto.types('/vps reboot nothing');
    await otto.types('/vps stop');
    await otto.chooses('Choose a server', 'web-3');
  },
  'reboot in a direct message': async (start) => {
    const scene = await start({ servers: { web: 1 } });
    await scene.as('otto', 'dm').types('/vps reboot web-1');
  },
  'stop, start and reboot by the buttons of a card': async (start) => {
    const scene = await start({ servers: { web: 1 } });
    const otto = scene.as('otto');
    await otto.types('/vps show web-1');
    await otto.presses('Stop');
    await otto.presses('Start');
    await otto.presses('Reboot');
  },
  'a reboot that takes time, asked for again': async (start) => {
    const scene = await start({ servers: { web: 1 }, hosting: { rebootDelayMs: 30_000 } });
    const otto = scene.as('otto');
    await otto.types('/vps reboot web-1');
    await otto.sees('is rebooting web-1');
    await otto.types('/vps stop web-1');
    await scene.as('mara').types('/vps reboot web-1');
    await scene.passes(31_000, 'half a minute passes');
    await otto.sees('rebooted web-1');
  },
  'a second reboot asks first, and so does the beginning of a label': async (start) => {
    const scene = await start({ servers: { web: 1 } });
    await scene.as('otto').types('/vps reboot web-1');
    await scene.as('mara').types('/vps reboot web-1');
    await scene.as('mara').presses('Reboot again');
    await scene.as('otto').types('/vps stop we');
  },
  'power actions that are refused, not sent, and unclear': async (start) => {
    const scene = await start({ servers: { web: 4 } });
    const otto = scene.as('otto');
    for (const code of ['wrong_state', 'not_found', 'not_allowed'] as const) {
      await scene.fails({ on: 'stop', kind: 'error', code });
      await otto.types('/vps stop web-1');
    }
    await scene.fails({ on: 'servers', kind: 'status_500' });
    await scene.passes(3000, 'the last list is no longer good');
    await otto.types('/vps stop web-2');
    await otto.presses('Try again');
    await scene.fails({ on: 'reboot', kind: 'status_500' });
    await otto.types('/vps reboot web-3');
    await otto.presses('Check state');
    await scene.fails({ on: 'start', kind: 'lost_before' });
    await otto.types('/vps start web-2');
  },
  'several servers by a pattern': async (start) => {
    const scene = await start({ servers: { web: 3, db: 1 } });
    const otto = scene.as('otto');
    await otto.types('/vps stop web-* db-1');
    await otto.presses('Stop 4 servers');
    await otto.sees('Stopping 4 of 4 servers');
    await otto.types('/vps start nothing-*');
    await otto.types('/vps start web-1 web-2');
  },
  'a delete is confirmed by the label': async (start) => {
    const scene = await start({ servers: { web: 2 } });
    const mara = scene.as('mara');
    await mara.types('/vps delete web-1');
    await mara.fills({ 'To confirm, type web-1': 'web-2' });
    await mara.presses('Delete');
    await mara.fills({ 'To confirm, type web-1': 'web-1' });
    await mara.presses('Delete');
    await mara.sees('web-1 was deleted');
    await mara.closes();
    await mara.types('/vps delete web-1');
    await scene.as('otto').types('/vps delete web-2');
  },
  'a delete of what is gone already, and from a card': async (start) => {
    const scene = await start({ servers: { web: 2 } });
    const mara = scene.as('mara');
    await mara.types('/vps delete web-1');
    await mara.fills({ 'To confirm, type web-1': 'web-1' });
    await scene.does('(web-1 is deleted on the hosting account’s page)', () =>
      scene.team.hosting.servers.remove(scene.team.account, '1001'),
    );
    await mara.presses('Delete');
    await mara.closes();
    await mara.types('/vps show web-2');
    await mara.presses('Delete…');
    await mara.fills({ 'To confirm, type web-2': 'web-2' });
    await mara.presses('Delete');
    await mara.sees('deleted web-2');
  },
  'a delete that is refused, and unclear ones': async (start) => {
    const scene = await start({ servers: { web: 3 } });
    const mara = scene.as('mara');
    const faults = [
      { kind: 'error', code: 'not_allowed' },
      { kind: 'lost_after' },
      { kind: 'status_500' },
    ] as const;
    for (const [at, fault] of faults.entries()) {
      await scene.fails({ on: 'delete', ...fault });
      await mara.types(`/vps delete web-${at + 1}`);
      await mara.fills({ [`To confirm, type web-${at + 1}`]: `web-${at + 1}` });
      await mara.presses('Delete');
      await mara.sees(/was deleted|wasn’t deleted|We’re not sure/);
      await mara.closes();
    }
  },
  'a protected server': async (start) => {
    const scene = await start({ servers: { db: 1 } });
    const olga = scene.as('olga');
    await olga.types('/vps show db-1');
    await olga.presses('Protect');
    await scene.as('otto').types('/vps reboot db-1');
    await scene.as('mara').types('/vps delete db-1');
    await scene.as('mara').types('/vps show db-1');
    await olga.presses('Lift protection');
    await scene.as('otto').types('/vps reboot db-1');
  },
  notes: async (start) => {
    const scene = await start({ servers: { web: 2 } });
    const otto = scene.as('otto');
    await otto.types('/vps note web-1 @mara billing, call <@U0OWNER001|olga> first');
    await scene.as('vera').types('/vps show web-1');
    await scene.as('vera').types('/vps list billing');
    await scene.as('vera').types('/vps note web-1 mine');
    await otto.types('/vps note web-1');
    await otto.types('/vps note web-1 owner=otto');
    await otto.types('/vps note web-1 owner=none');
    await otto.types('/vps note web-1 clear');
  },
  'the hosting API is down': async (start) => {
    const scene = await start({ servers: { web: 1 } });
    await scene.fails({ on: 'servers', kind: 'html', times: 'always' });
    await scene.as('vera').types('/vps list');
    await scene.as('vera').types('/vps show web-1');
    await scene.as('vera').types('/vps');
    await scene.as('vera').types('/vps status');
  },
};
