import { Agent } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_SETTINGS } from '../../src/core/settings.ts';
import { type Arena, startArena } from './arena.ts';
import { ACTS, deliver, encodeWhole, type Sample, sampleOf } from './slack.ts';

let arena: Arena;
beforeAll(async () => {
  const madeUp = 'orders are confirmed by requests that no client sent';
  arena = await startArena({ chargedOnce: madeUp, passwordsWithCreators: madeUp });
});
afterAll(() => arena[Symbol.asyncDispose]());

const PATIENCE_MS = 30_000;

const send = (sample: Sample, agent?: Agent) =>
  deliver({ url: arena.team.appUrl, ...encodeWhole(sample) }, PATIENCE_MS, agent);

const by = { id: 'U0VIEWER01', team_id: 'T0SANDBOX' };

const press = { type: 'button', block_id: 'b', action_id: 7 };

test.each<[string, Sample['kind'], object]>([
  ['a press without an ID', 'payload', { type: 'block_actions', user: by, actions: [press] }],
  ['a form without a view', 'payload', { type: 'view_submission', user: by }],
  ['a menu with a number as its ID', 'payload', { type: 'block_suggestion', user: by, action_id: 7 }],
  ['a shortcut without a user', 'payload', { type: 'shortcut', callback_id: 'servers' }],
  ['an event that is a number', 'event', { type: 'event_callback', event: 7 }],
])('a signed request that Slack never sends is refused as such: %s', async (_, kind, content) => {
  expect((await send({ kind, content } as Sample)).status).toBe(400);
});

test.each(ACTS)('a request acts while it is whole: $via $name', async (act) => {
  const sample = await act.sample(arena, 900_000 + ACTS.indexOf(act));
  expect(await send(sample)).toMatchObject({ status: 200 });
  await expect
    .poll(() => arena.takeFaults().join(), { timeout: PATIENCE_MS })
    .toMatch(/changed at the hosting API/);
});

test.each(
  ACTS.filter(({ via }) => via !== 'modal'),
)('a request changes nothing without saying what it is: $via $name', async (act) => {
  const { kind, content } = await act.sample(arena, 910_000 + ACTS.indexOf(act));
  const { [kind === 'fields' ? 'command' : 'type']: _, ...rest } = content;
  await send({ kind, content: kind === 'fields' ? { ...rest, command: '' } : { ...rest, type: true } });
  // What is whole still acts, after it.
  await send(await sampleOf(arena.team, 'otto', (who) => who.presses('start', { id: arena.serverId + 4 })));
  await expect
    .poll(() => arena.takeFaults(), { timeout: PATIENCE_MS })
    .toEqual([expect.stringMatching(/start$/)]);
});

test('a request that fails after its ack leaves the connection to the next one', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const failing: Sample = { kind: 'event', content: { type: 'event_callback', event: { type: 7 } } };
  const answers = await Promise.all(Array.from({ length: 5 }, () => send(failing, agent)));
  agent.destroy();
  expect(new Set(answers.map(({ localPort }) => localPort)).size).toBe(1);
});

test('the return of an install without a code is refused as the browser’s fault', async () => {
  const { status } = await fetch(`${arena.installs.appUrl}/slack/oauth_redirect?state=none`);
  expect(status).toBe(400);
});

test.each([
  ['the form', '', 'web-0'],
  ['the server', 'F-found', ''],
])('an order without a name for %s pays nothing', async (_, formId, label) => {
  const order = { plan: 'micro', location: 'ams', image: 'debian-13', label };
  const metadata = { o: { formId, channelId: 'C0OPS00001' }, m: { order, price: 290 } };
  const sample = await sampleOf(arena.team, 'mara', (who) => who.submits('create_review', metadata));
  const { status, text } = await send(sample);
  expect([status, text]).toEqual([200, expect.stringContaining('out of date')]);
});

test('a press that names a channel as its user is answered to nobody', async () => {
  const { slack } = arena.team;
  const answered: string[] = [];
  const stop = slack.onEvent((event) => {
    if (event.type === 'message' && event.message.text.includes('out of date'))
      answered.push(event.message.channel);
  });
  const { kind, content } = await sampleOf(arena.team, 'sam', (who) => who.presses('reboot', {}));
  const { response_url: _, ...press } = content;
  const broken = { ...press, user: { id: 'acme-shared' }, channel: { id: 'C0SHARED01' } };
  expect(await send({ kind, content: broken })).toMatchObject({ status: 200 });
  // The answer to what is only out of date comes after it.
  await send({ kind, content: { ...press, user: { id: 'U0VIEWER01' } } });
  await expect.poll(() => answered, { timeout: PATIENCE_MS }).toEqual(['D0VIEWER01']);
  stop();
});

test.each([
  ['channelId', '> <!channel>'],
  ['freeze', { by: '> <!channel>', since: 1 }],
])('a form whose metadata have something else as the ID in %s is out of date', async (name, odd) => {
  const metadata = {
    o: { formId: `F-${name}`, channelId: 'C0OPS00001' },
    m: { ...DEFAULT_SETTINGS, [name]: odd },
  };
  const sample = await sampleOf(arena.team, 'olga', (who) =>
    who.submits('settings_spending', metadata, { freeze: 'off' }),
  );
  const { status, text } = await send(sample);
  expect([status, text]).toEqual([200, expect.stringContaining('out of date')]);
});
