import type { Stories } from '../stories.ts';

const alertOf = (label: string) => ({
  attachments: [{ title: `[FIRING:1] DiskFull (${label}:9100)`, text: '', fallback: 'DiskFull' }],
});

export const SURFACES: Stories = {
  mentions: async (start) => {
    const scene = await start({ servers: { web: 2 } });
    const otto = scene.as('otto');
    await otto.types('@vps reboot web-1');
    await otto.types('@vps show web-2');
    await otto.types('thanks @vps stop web-1 was right');
    await scene.as('vera').types('@vps stop web-1');
    await scene.as('mara').types('@vps create plan=small location=ams image=debian-13 label=web-9');
    await scene.as('vera').types('@vps');
  },
  'direct messages': async (start) => {
    const scene = await start({ servers: { web: 2 } });
    const otto = scene.as('otto', 'dm');
    await otto.types('stop web-1');
    await otto.types('list');
    await otto.types('good morning');
    await scene.as('nora', 'dm').types('stop web-1');
  },
  'a message shortcut from an alert': async (start) => {
    const scene = await start({ servers: { web: 3 } });
    await scene.does('(an alert about web-1 in #ops)', () =>
      scene.team.slack.posts('#ops', alertOf('web-1')),
    );
    const otto = scene.as('otto');
    await otto.usesMessageShortcut('manage_server', 'DiskFull');
    await otto.sees('Manage server');
    await otto.presses('Reboot');
    await otto.inThreadOf('DiskFull').sees('rebooted web-1');
    await otto.closes();
    await scene.does('(a message about web-2 and web-3)', () =>
      scene.team.slack.posts('#ops', { text: 'web-2 and web-3 are down' }),
    );
    await scene.as('vera').usesMessageShortcut('manage_server', 'are down');
    await scene.as('vera').closes();
    await scene.as('nora').usesMessageShortcut('manage_server', 'are down');
  },
  'a message shortcut on a message without a server': async (start) => {
    const scene = await start({ servers: { web: 3 } });
    await scene.as('otto').types('my coffee is cold, 42%');
    await scene.as('otto').usesMessageShortcut('manage_server', 'coffee');
    await scene.as('otto').chooses('Find another server', 'web-2');
  },
  'Home for each role': async (start) => {
    const scene = await start({ servers: { web: 14 } });
    for (const name of ['olga', 'mara', 'otto', 'vera', 'nora'] as const)
      await scene.as(name, 'dm').opensHome();
    const otto = scene.as('otto', 'dm');
    await otto.opensHome();
    await otto.presses('Next');
    await otto.chooses('Find a server', 'web-7');
    await otto.presses('Stop');
    await otto.closes();
    await otto.presses('Manage');
    await otto.presses('Reboot');
  },
  'Home before the account is connected': async (start) => {
    const scene = await start({ isConnected: false });
    const [olga, nora] = [scene.as('olga', 'dm'), scene.as('nora', 'dm')];
    await olga.opensHome();
    await olga.presses('Connect…');
    await scene.as('vera', 'dm').opensHome();
    await nora.opensHome();
    await nora.presses('Ask for access');
    await nora.fills({ 'Why do you need it?': 'on call' });
    await nora.submits();
    await olga.sees('nora is requesting the viewer role');
    await olga.presses('Approve for 8 h');
    await nora.sees('Ask @olga to connect it');
  },
  'the panel for each role': async (start) => {
    const scene = await start({ servers: { web: 7 } });
    for (const name of ['olga', 'mara', 'otto', 'vera', 'nora'] as const) await scene.as(name).types('/vps');
    await scene.as('otto').types('/vps stop web-6');
    await scene.as('otto').types('/vps');
    await scene.as('otto').presses('All servers');
    await scene.as('vera').presses('Manage');
  },
  'the panel with a password': async (start) => {
    const scene = await start();
    const mara = scene.as('mara');
    await mara.types('/vps create plan=micro location=ams image=debian-13 label=web-1');
    await mara.presses('Create and pay');
    await mara.sees("I've saved it");
    await mara.closes();
    await mara.types('/vps');
    await mara.presses('Show password');
  },
};
