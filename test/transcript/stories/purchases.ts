import type { Actor, Scene } from '../scene.ts';
import { DAY_MS, MINUTE_MS } from '../scene.ts';
import type { Stories } from '../stories.ts';

const typed = (label: string, plan = 'small') =>
  `/vps create plan=${plan} location=ams image=debian-13 label=${label}`;

/** Confirms a create and closes what it opened. */
async function orders(
  actor: Actor,
  label: string,
  outcome: string | RegExp,
  button = 'Create and pay',
): Promise<void> {
  await actor.types(typed(label));
  await actor.presses(button);
  await actor.sees(outcome);
}

async function renews(actor: Actor, label: string, outcome: string | RegExp): Promise<void> {
  await actor.types(`/vps renew ${label}`);
  await actor.presses('Renew and pay');
  await actor.sees(outcome);
}

/** An owner changes the settings on this screen. */
async function sets(
  scene: Scene,
  screen: 'spending' | 'approvals',
  values: Parameters<Actor['fills']>[0],
): Promise<void> {
  const olga = scene.as('olga');
  await olga.types(`/vps settings ${screen}`);
  await olga.fills(values);
  await olga.presses('Save');
  await olga.sees('Settings saved');
  await olga.closes();
}

export const PURCHASES: Stories = {
  'a create from the form to the saved password': async (start) => {
    const scene = await start();
    const mara = scene.as('mara');
    await mara.types('/vps create');
    await mara.fills({ Plan: 'small', Location: 'ams', Image: 'debian-13', Label: 'web-1' });
    await mara.presses('Review');
    await mara.presses('Back');
    await mara.presses('Review');
    await mara.presses('Create and pay');
    await mara.sees("I've saved it");
    await mara.closes();
    await scene.passesUntil(10_000, mara, 'Ready: ssh root@');
    await mara.reloads();
    await mara.types('/vps password');
    await mara.types('/vps password web-1');
    await scene.as('olga').types('/vps password web-1');
    await mara.presses("I've saved it", { confirm: false });
    await mara.presses("I've saved it");
    await mara.types('/vps password web-1');
    await scene.as('olga').types('/vps audit web-1');
  },
  'a create with words that are wrong': async (start) => {
    const scene = await start();
    const mara = scene.as('mara');
    await mara.types('/vps create plan=smal location=ams image=debian-13 label=web-1');
    await mara.closes();
    await mara.types('/vps create plan=small location=moon image=debian-13 label=web-1');
    await mara.closes();
    await mara.types('/vps create plan=small location=ams image=debian-13');
    await mara.fills({ Label: ' ' });
    await mara.closes();
    await scene.as('otto').types(typed('web-1'));
    await scene.as('nora').types(typed('web-1'));
  },
  'a create beside a server of its label, and after one has appeared': async (start) => {
    const scene = await start({ servers: { web: 1 } });
    const mara = scene.as('mara');
    await mara.types(typed('web-1'));
    await mara.presses('Create and pay');
    await mara.sees("I've saved it");
    await mara.closes();
    await mara.types(typed('db-1'));
    await scene.does('(db-1 appears in the hosting account)', () =>
      scene.team.hosting.seedServers(scene.team.account, 1, 'db'),
    );
    await mara.presses('Create and pay');
    await mara.sees('db-1 wasn’t created');
    await mara.closes();
    await mara.presses('Try again');
  },
  'a create whose price has moved': async (start) => {
    const scene = await start();
    const mara = scene.as('mara');
    await mara.types(typed('web-1'));
    await scene.does('(small costs 7.77 now)', () => scene.team.hosting.setPrice('small', '7.77'));
    await mara.presses('Create and pay');
    await mara.sees('changed from 5.90/month to 7.77/month');
    await mara.closes();
    await mara.presses('Try again');
    await mara.presses('Create and pay');
    await mara.sees("I've saved it");
  },
  'a create that the balance does not cover': async (start) => {
    const scene = await start({
      balanceMinor: 300,
      settings: { HOSTING_ACCOUNT_URL: 'https://hosting.example/account' },
    });
    const mara = scene.as('mara');
    await orders(mara, 'web-1', 'wasn’t created');
    await mara.closes();
    await scene.does('(10.00 are paid in)', () =>
      scene.team.hosting.accounts.topUp(scene.team.account, 1000),
    );
    await mara.presses('Try again');
    await mara.presses('Create and pay');
    await mara.sees("I've saved it");
  },
  'creates that the API refuses': async (start) => {
    const scene = await start();
    const mara = scene.as('mara');
    for (const code of ['limit', 'not_created', 'bad_request', 'not_allowed', 'unauthorized'] as const) {
      await scene.fails({ on: 'create', kind: 'error', code });
      await orders(mara, `web-${code.replaceAll('_', '-')}`, /wasn’t created|We’re not sure/);
      await mara.closes();
    }
  },
  'a create that is sent again after rate_limited': async (start) => {
    const scene = await start();
    await scene.fails({ on: 'create', kind: 'error', code: 'rate_limited' });
    await orders(scene.as('mara'), 'web-1', "I've saved it");
  },
  'a create whose answer is lost is found': async (start) => {
    const scene = await start();
    const mara = scene.as('mara');
    await scene.fails({ on: 'create', kind: 'lost_after' });
    await orders(mara, 'web-1', 'We’re not sure yet');
    await mara.closes();
    await scene.passes(10_000, 'ten seconds pass');
    await mara.sees('didn’t reach us');
    await mara.types('/vps password web-1');
  },
  'a create whose answer is unclear is found': async (start) => {
    const scene = await start();
    await scene.fails({ on: 'create', kind: 'garbage' });
    await orders(scene.as('mara'), 'web-1', /(was|is being) created \(|not sure/);
  },
  'a create that was lost stays unconfirmed, and a manager decides that it was not carried out': async (
    start,
  ) => {
    const scene = await start();
    const mara = scene.as('mara');
    await scene.fails({ on: 'create', kind: 'lost_before' });
    await orders(mara, 'web-1', 'We’re not sure yet');
    await mara.closes();
    await mara.types(typed('web-1'));
    await mara.presses('Create and pay');
    await mara.sees('is still unconfirmed');
    await mara.closes();
    await scene.passesUntil(31 * MINUTE_MS, mara, 'hasn’t appeared in the hosting account');
    await scene.as('olga').types('/vps status');
    await mara.presses('Resolve…');
    await mara.fills({ 'Which server was created?': 'None: it wasn’t created' });
    await mara.presses('Save');
    await mara.sees('wasn’t created');
    await mara.closes();
    await mara.presses('Try again');
  },
  'a create that the supplier checks, and then completes': async (start) => {
    const scene = await start();
    const mara = scene.as('mara');
    await scene.fails({ on: 'create', kind: 'checking_completes', afterMs: 60_000 });
    await orders(mara, 'web-1', 'hasn’t confirmed');
    await scene.passes(2 * MINUTE_MS, 'two minutes pass');
    await mara.sees(/(was|is being) created \(/);
  },
  'a renewal': async (start) => {
    const scene = await start({ servers: { web: 1 } });
    const mara = scene.as('mara');
    await renews(mara, 'web-1', 'was renewed');
    await scene.as('otto').types('/vps renew web-1');
    await mara.types('/vps renew nothing');
  },
  'a month that two users renew at once': async (start) => {
    const scene = await start({ servers: { web: 1 } });
    const [mara, olga] = [scene.as('mara'), scene.as('olga')];
    await mara.types('/vps renew web-1');
    await olga.types('/vps renew web-1');
    await mara.presses('Renew and pay');
    await mara.sees('web-1 was renewed');
    await olga.presses('Renew and pay');
    await olga.sees(/web-1/);
  },
  'renewals that are refused, and one whose answer is lost': async (start) => {
    const scene = await start({ servers: { web: 4 } });
    const mara = scene.as('mara');
    for (const [at, code] of (['not_enough_balance', 'not_found', 'bad_request'] as const).entries()) {
      await scene.fails({ on: 'renew', kind: 'error', code });
      await renews(mara, `web-${at + 1}`, /wasn’t renewed|We’re not sure/);
      await mara.closes();
    }
    await scene.fails({ on: 'renew', kind: 'lost_after' });
    await renews(mara, 'web-4', /was renewed|is now paid until/);
  },
  'approvals: asked for, approved and denied': async (start) => {
    const scene = await start({ servers: { web: 1 } });
    await sets(scene, 'approvals', {
      'Deleting servers': 'On',
      'Renewing servers': 'On',
      'Creating servers that cost more than (per month)': '0',
      'Approvals channel': '#general',
    });
    const [mara, olga] = [scene.as('mara'), scene.as('olga', '#general')];
    await orders(mara, 'db-1', 'Waiting for another manager', 'Request approval');
    await mara.closes();
    await scene.as('mara', '#general').presses('Approve');
    await olga.presses('Approve');
    await mara.sees("I've saved it");
    await mara.types('/vps renew web-1');
    await mara.presses('Request approval');
    await olga.sees('wants to renew');
    await mara.closes();
    await olga.presses('Deny with reason…');
    await olga.fills({ Reason: 'Wait for the release' });
    await olga.presses('Deny');
    await mara.sees('declined');
  },
  'approvals: a delete, in direct messages': async (start) => {
    const scene = await start({ servers: { web: 1 } });
    await sets(scene, 'approvals', { 'Deleting servers': 'On' });
    const mara = scene.as('mara');
    await mara.types('/vps delete web-1');
    await mara.fills({ 'To confirm, type web-1': 'web-1' });
    await mara.presses('Request approval');
    await mara.sees('Waiting for another manager');
    await mara.closes();
    await scene.as('mara').types('/vps status');
    await scene.as('olga', 'dm').presses('Approve');
    await mara.sees('web-1 was deleted');
  },
  'approvals: withdrawn, expired, and one’s own': async (start) => {
    const scene = await start();
    await sets(scene, 'approvals', { 'Creating servers that cost more than (per month)': '0' });
    const mara = scene.as('mara');
    await orders(mara, 'web-1', 'Waiting for another manager', 'Request approval');
    await mara.closes();
    await mara.presses('Withdraw request');
    await mara.sees('You withdrew your request');
    await orders(mara, 'web-2', 'Waiting for another manager', 'Request approval');
    await mara.closes();
    await scene.passes(8 * DAY_MS, 'a week passes');
    await scene.as('olga', 'dm').sees('Expired');
    await orders(scene.as('olga'), 'web-3', 'Waiting for another manager', 'Request approval');
    await scene.as('mara', 'dm').sees('web-3');
  },
  budgets: async (start) => {
    const scene = await start();
    await sets(scene, 'spending', { Workspace: '10', 'Per person': '8' });
    const mara = scene.as('mara');
    await orders(mara, 'web-1', "I've saved it");
    await mara.closes();
    await orders(mara, 'web-2', 'exceeds');
    await mara.closes();
    await scene.as('mara').types('/vps costs');
  },
  'frozen purchases': async (start) => {
    const scene = await start({ servers: { web: 1 } });
    const mara = scene.as('mara');
    await mara.types(typed('db-1'));
    await sets(scene, 'spending', { 'Purchase freeze': 'On' });
    await mara.presses('Create and pay');
    await mara.closes();
    await mara.types(typed('db-1'));
    await mara.closes();
    await mara.types('/vps renew web-1');
    await mara.closes();
    await mara.types('/vps status');
  },
  costs: async (start) => {
    const scene = await start({ servers: { old: 1 } });
    const mara = scene.as('mara');
    await mara.types('/vps costs');
    await orders(mara, 'web-1', "I've saved it");
    await mara.closes();
    await renews(mara, 'old-1', 'was renewed');
    await mara.closes();
    await mara.types('/vps costs');
    await scene.as('nora').types('/vps costs');
  },
};
