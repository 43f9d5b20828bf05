import type { Scene } from '../scene.ts';
import type { Stories } from '../stories.ts';

function pathOfLink(scene: Scene): string {
  const link =
    scene
      .as('olga')
      .persona.links()
      .find((address) => address.includes('/connect/')) ?? '';
  return new URL(link).pathname;
}

export const ACCOUNT: Stories = {
  'the hosting account is connected, and disconnected': async (start) => {
    const scene = await start({ isConnected: false, servers: { web: 1 } });
    const olga = scene.as('olga');
    await scene.as('mara').types('/vps list');
    await olga.types('/vps');
    await olga.types('/vps connect sk-live-1234567890abcdef');
    await olga.types('/vps connect');
    await olga.sees('Enter the API key');
    const path = pathOfLink(scene);
    await scene.opens(path);
    await scene.opens(path, { api_key: 'wrong-key' });
    await scene.opens(path, { api_key: scene.team.apiKey });
    await olga.sees('is connected');
    await scene.opens(path);
    await olga.types('/vps list');
    await olga.types('/vps disconnect');
    await olga.presses('Disconnect', { confirm: false });
    await olga.presses('Disconnect');
    await olga.sees('is disconnected');
    await olga.types('/vps list');
    await scene.as('mara').types('/vps connect');
  },
  'an account without money': async (start) => {
    const scene = await start({ isConnected: false, balanceMinor: 0 });
    const olga = scene.as('olga');
    await olga.types('/vps connect');
    await olga.sees('Enter the API key');
    const path = pathOfLink(scene);
    await scene.opens(path, { api_key: scene.team.apiKey });
  },
  'the key no longer works': async (start) => {
    const scene = await start({ servers: { web: 1 } });
    await scene.fails({ on: 'any', kind: 'error', code: 'unauthorized', times: 'always' });
    await scene.as('vera').types('/vps list');
    await scene.as('olga').types('/vps list');
    await scene.as('otto').types('/vps reboot web-1');
    await scene.as('olga').types('/vps status');
  },
  'the status': async (start) => {
    const scene = await start({ servers: { web: 2 } });
    await scene.as('vera').types('/vps status');
    await scene.as('otto').types('/vps stop web-1');
    await scene.as('olga').types('/vps status');
    await scene.as('nora').types('/vps status');
  },
  'settings are saved, refused and left alone': async (start) => {
    const scene = await start({ servers: { web: 1 } });
    const olga = scene.as('olga');
    await olga.types('/vps settings');
    await olga.presses('Spending…');
    await olga.presses('Save');
    await olga.sees('Nothing was changed');
    await olga.closes();
    await olga.types('/vps settings spending');
    await olga.fills({ 'Per person': 'many' });
    await olga.presses('Save');
    await olga.fills({ 'Per person': '5', Currency: 'EUR' });
    await olga.presses('Save');
    await olga.sees('Settings saved');
    await olga.closes();
    await olga.types('/vps settings approvals');
    await olga.fills({ 'Approvals channel': '#random' });
    await olga.presses('Save');
    await olga.fills({ 'Approvals channel': '#general' });
    await olga.presses('Save');
    await olga.sees('Settings saved');
    await olga.closes();
    await olga.types('/vps settings notifications');
    await olga.fills({ 'Digest channel': '#ops', 'Time zone': 'Berlin' });
    await olga.presses('Save');
    await olga.fills({ 'Time zone': 'Europe/Berlin', 'Announce changes in the channel': 'No' });
    await olga.presses('Save');
    await olga.sees('Settings saved');
    await olga.closes();
    await olga.types('/vps settings');
    await olga.closes();
    await scene.as('otto').types('/vps stop web-1');
    await scene.as('mara').types('/vps settings');
    await olga.types('/vps audit');
  },
};
