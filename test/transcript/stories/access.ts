import { DAY_MS, HOUR_MS } from '../scene.ts';
import type { Stories } from '../stories.ts';

export const ACCESS: Stories = {
  'a role is granted and revoked by command': async (start) => {
    const scene = await start({ servers: { web: 1 } });
    const [olga, nora] = [scene.as('olga'), scene.as('nora')];
    await olga.types('/vps access');
    await olga.types('/vps access grant @nora operator');
    await nora.types('/vps reboot web-1');
    await olga.types('/vps access @nora');
    await olga.types('/vps access revoke @nora');
    await nora.types('/vps reboot web-1');
    await olga.types('/vps access grant @nora king');
    await olga.types('/vps access revoke @nora');
    await scene.as('mara').types('/vps access grant @nora viewer');
  },
  'a role is granted in the form, to a group, for some servers and a time': async (start) => {
    const scene = await start({ servers: { web: 1, db: 1 } });
    const olga = scene.as('olga');
    await olga.types('/vps access');
    await olga.presses('Grant a role…');
    await olga.fills({ User: 'nora', 'User group': '@oncall', Role: 'viewer' });
    await olga.presses('Grant');
    await olga.closes();
    await olga.presses('Grant a role…');
    await olga.fills({
      'User group': '@oncall',
      Role: 'operator',
      'Limit to servers': 'web-*',
      Duration: '8 hours',
    });
    await olga.presses('Grant');
    await olga.sees('Members of @oncall are now operators');
    await olga.closes();
    await scene.as('nora').types('/vps stop web-1');
    await scene.as('nora').types('/vps stop db-1');
    await scene.as('nora').types('/vps list');
    await olga.types('/vps access');
  },
  'a role for an hour ends': async (start) => {
    const scene = await start({ servers: { web: 1 } });
    const olga = scene.as('olga');
    await olga.types('/vps access grant @nora operator for 1h');
    await scene.as('nora').types('/vps stop web-1');
    await scene.passes(2 * HOUR_MS, 'two hours pass');
    await scene.as('nora').types('/vps start web-1');
    await olga.types('/vps audit since 1d');
  },
  'a role in a channel, and guests': async (start) => {
    const scene = await start({ servers: { web: 1 } });
    const olga = scene.as('olga');
    await olga.types('/vps access grant #ops viewer');
    await scene.as('nora').types('/vps list');
    await scene.as('nora', 'dm').types('/vps list');
    await scene.as('gus').types('/vps list');
    await olga.types('/vps access grant @gus viewer');
    await scene.as('gus').types('/vps list');
    await olga.types('/vps access grant <@U0STRANGER|sam> viewer');
    await olga.types('/vps access grant <@U0FORMER01|finn> viewer');
  },
  'the last owner stays': async (start) => {
    const scene = await start();
    const olga = scene.as('olga');
    await olga.types('/vps access grant @mara owner on web-*');
    await olga.types('/vps access grant @mara owner');
    await scene.as('mara').types('/vps access revoke @mara');
    await olga.types('/vps access revoke @olga');
  },
  'a role is asked for and granted for an hour': async (start) => {
    const scene = await start({ servers: { web: 1 } });
    const [nora, olga] = [scene.as('nora'), scene.as('olga', 'dm')];
    await nora.types('/vps reboot web-1');
    await nora.presses('Ask for access');
    await nora.fills({ 'Why do you need it?': 'web-1 hangs & <!channel>' });
    await nora.presses('Send request');
    await nora.sees('We’ll let you know');
    await scene.as('nora').types('/vps access ask operator');
    await nora.fills({ 'Why do you need it?': 'again' });
    await nora.presses('Send request');
    await nora.closes();
    await olga.presses('Approve for 8 h');
    await nora.sees('@olga made you an operator');
    await nora.types('/vps reboot web-1');
  },
  'a role is asked for and denied, withdrawn, and never answered': async (start) => {
    const scene = await start();
    const [vera, olga] = [scene.as('vera'), scene.as('olga', 'dm')];
    await vera.types('/vps access ask manager');
    await vera.fills({ 'Why do you need it?': 'holidays' });
    await vera.presses('Send request');
    await olga.sees('is requesting the manager role');
    await olga.presses('Deny');
    await vera.sees('declined your request');
    await vera.types('/vps access ask operator');
    await vera.fills({ 'Why do you need it?': 'on call' });
    await vera.presses('Send request');
    await vera.sees('We’ll let you know');
    await vera.types('/vps access withdraw');
    await vera.types('/vps access withdraw');
    await vera.types('/vps access ask operator');
    await vera.fills({ 'Why do you need it?': 'on call again' });
    await vera.presses('Send request');
    await vera.sees('We’ll let you know');
    await scene.passes(8 * DAY_MS, 'a week passes');
    await olga.sees('Expired');
  },
  'the audit': async (start) => {
    const scene = await start({ servers: { web: 2 } });
    await scene.as('otto').types('/vps reboot web-1');
    await scene.as('otto').types('/vps stop web-2');
    await scene.as('nora').types('/vps reboot web-1');
    const olga = scene.as('olga');
    await olga.types('/vps audit');
    await olga.types('/vps audit web-1');
    await olga.types('/vps audit @otto since 7d');
    await olga.types('/vps audit since yesterday');
    await scene.as('mara').types('/vps audit');
  },
};
