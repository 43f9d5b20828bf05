import type { LocalSlack } from '../../support/slack/local-slack.ts';
import type { Scene } from '../scene.ts';
import { textOf } from '../scene.ts';
import type { Stories } from '../stories.ts';

async function installs(
  scene: Scene,
  slack: LocalSlack,
  workspace: string,
  user: 'olga' | 'nora' = 'olga',
): Promise<void> {
  const page = await scene.does(`${user} installs the app in ${workspace}`, async () =>
    scene.installs?.install(slack, user),
  );
  scene.recorder.note(`page ${page?.status}`, textOf(page?.text ?? ''));
}

/** An owner connects their workspace with a key of its own. */
async function connects(scene: Scene, slack: LocalSlack, key: string): Promise<void> {
  const olga = scene.as('olga', '#ops', slack);
  await olga.types('/vps connect');
  await olga.sees('Enter the API key');
  const link = olga.persona.links().find((address) => address.includes('/connect/')) ?? '';
  await scene.opens(new URL(link).pathname, { api_key: key });
  await olga.sees('is connected');
}

export const INSTALLS: Stories = {
  'an install, an uninstall, and another install': async (start) => {
    const scene = await start({ isInstalled: false });
    const first = scene.team.slack;
    await installs(scene, first, 'Sandbox', 'nora');
    await scene.as('nora', 'dm').presses('Connect…');
    await connects(scene, first, scene.team.apiKey);
    const olga = scene.as('olga');
    await olga.types('/vps create plan=small location=ams image=debian-13 label=web-1');
    await olga.presses('Create and pay');
    await olga.sees("I've saved it");
    await olga.closes();
    await scene.does('the app is uninstalled from Sandbox', () => first.uninstallApp());
    await installs(scene, first, 'Sandbox');
    await olga.types('/vps list');
    await olga.types('/vps password web-1');
    await olga.types('/vps audit');
  },
  'an install that is not completed': async (start) => {
    const scene = await start({ isInstalled: false });
    const page = await scene.does('olga presses Cancel on Slack’s page', async () => {
      const browser = scene.installs?.browser();
      return browser?.open(await browser.deny(await browser.begin()));
    });
    scene.recorder.note(`page ${page?.status}`, textOf(page?.text ?? ''));
    await scene.opens('/slack/oauth_redirect?code=made-up&state=made-up');
    await scene.opens('/livez');
    await scene.opens('/readyz');
    await scene.opens('/nowhere');
  },
  'two workspaces': async (start) => {
    const scene = await start({ isInstalled: false, servers: { alpha: 2 } });
    const { team, installs: both } = scene;
    if (!both) throw new Error('the app is installed already');
    const account = team.hosting.accounts.create({ name: 'Second', balanceMinor: 100_000 });
    team.hosting.seedServers(account, 1, 'beta');
    const key = team.hosting.createKey(account, { beforeTopUp: true });
    scene.recorder.hides(key, '<API key of Second>');
    await installs(scene, both.first, 'Sandbox');
    await installs(scene, both.second, 'Second');
    await connects(scene, both.first, team.apiKey);
    await connects(scene, both.second, key);
    const [olga, other] = [scene.as('olga'), scene.as('olga', '#ops', both.second)];
    await olga.types('/vps list');
    await other.types('/vps list');
    await other.types('/vps show alpha-1');
    await other.types('/vps reboot beta-1');
    await other.types('/vps create plan=small location=ams image=debian-13 label=gamma');
    await other.presses('Create and pay');
    await other.sees("I've saved it");
    await olga.types('/vps audit');
    await other.types('/vps audit');
  },
};
