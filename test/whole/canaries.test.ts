import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import type { StoredMessage } from '../../src/sandbox/slack/messages.ts';
import { USERS } from '../../src/sandbox/slack/workspace.ts';
import { askForLink } from '../support/acts.ts';
import { until } from '../support/eventually.ts';
import { readBytes } from '../support/invariants.ts';
import { startKillableTeam } from '../support/killable-team.ts';
import type { LocalSlack } from '../support/slack/local-slack.ts';
import {
  APP_TOKEN,
  BOT_TOKEN,
  ENCRYPTION_KEY,
  readMetrics,
  SIGNING_SECRET,
  startTeam,
} from '../support/team.ts';

/** A secret in every encoding in which it could leak. */
function dressesOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const base64 = bytes.toString('base64').replace(/=+$/, '');
  return [
    secret,
    base64,
    bytes.toString('hex'),
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
  ];
}

function expectWithout(places: Readonly<Record<string, string>>, secrets: Readonly<Record<string, string>>) {
  const leaks = Object.entries(places).flatMap(([place, text]) =>
    Object.entries(secrets)
      .filter(([, secret]) => dressesOf(secret).some((dress) => text.includes(dress)))
      .map(([name]) => `${name} in ${place}`),
  );
  expect(leaks).toEqual([]);
}

/** Every `response_url` that Slack has handed out, by what makes it a capability. */
function replySecrets(slack: LocalSlack): Record<string, string> {
  const urls = slack
    .deliveries()
    .flatMap(
      ({ body }) => decodeURIComponent(body.replaceAll('+', ' ')).match(/\/reply\/\w+\/\d+\/\w+/g) ?? [],
    );
  return Object.fromEntries(urls.map((url, place) => [`response_url ${place}`, url.split('/').at(-1) ?? '']));
}

/** Takes the blocks in which a root password may stand out of a message. */
function withoutPreformatted(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withoutPreformatted);
  if (typeof part !== 'object' || part === null) return part;
  if ('type' in part && part.type === 'rich_text_preformatted') return undefined;
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, withoutPreformatted(value)]));
}

/** A root password as it stands in a message. */
const PREFORMATTED = /"rich_text_preformatted","elements":\[\{"type":"text","text":"[^"]*"\}\]/g;

/** A call as JSON, whether it was sent as that or as a form. */
function readableOf(request: string): string {
  return request.startsWith('{') ? request : [...new URLSearchParams(request).values()].join('\n');
}

it('the whole story of a team, logged at level debug keeps every secret out of the log, the database and other users’ messages', async () => {
  await using team = await startKillableTeam({ servers: 0, settings: { LOG_LEVEL: 'debug' } });
  const { slack, hosting, account, apiKey } = team;
  const folder = dirname((team.environment.DATABASE_URL ?? '').replace('sqlite:', ''));
  const messages: StoredMessage[] = [];
  slack.onEvent((event) => {
    if (event.type === 'message' || event.type === 'message_changed') messages.push(event.message);
  });
  const app = await team.start();
  const owner = slack.as('olga');
  await owner.types(`/vps connect ${apiKey}`);
  await owner.sees('Never paste an API key into Slack');
  const link = await askForLink({ slack, appUrl: app.url });
  const form = new URLSearchParams({ api_key: apiKey });
  const page = await (await fetch(link, { method: 'POST', body: form })).text();
  expect(page).toContain('is connected');
  await owner.types('/vps access grant @mara manager');
  await owner.sees('is now a manager');

  const manager = slack.as('mara');
  const order = async (label: string, outcome: string) => {
    const fresh = manager.overlooksOldMessages();
    await fresh.types(`/vps create plan=micro location=ams image=debian-13 label=${label}`);
    await fresh.presses('Create and pay');
    await fresh.sees(outcome);
    await fresh.closes();
  };
  await order('kept', 'kept is being created');
  await manager.types('/vps password kept');
  await until(() => messages.filter(({ text }) => text.includes('kept')).length > 1);
  await order('saved', 'saved is being created');
  await manager.presses("I've saved it");
  for (const kind of ['lost_after', 'garbage', 'status_500_after'] as const) {
    hosting.faults.add({ on: 'create', kind });
    // After a success that proves nothing, the list is looked at first.
    const label = `in-doubt-${kind.replaceAll('_', '-')}`;
    await order(label, kind === 'garbage' ? `${label} was created` : 'We’re not sure yet');
  }
  for (const code of ['not_enough_balance', 'limit', 'not_created', 'bad_request'] as const) {
    hosting.faults.add({ on: 'create', kind: 'error', code });
    await order(`refused-${code.replaceAll('_', '-')}`, 'wasn’t created');
  }
  await manager.sees(/in-doubt-status-500-after was created .* hasn’t reached us/);
  slack.faults.breakReplyUrls();
  await order('late', 'late is being created');
  slack.faults.clear();
  slack.faults.failMethod('views.update', 'internal_error', 1);
  await manager.types('/vps renew kept');
  slack.faults.clear();
  await manager.closes();
  hosting.faults.add({ on: 'servers', kind: 'html' });
  await manager.types('/vps reboot kept');
  await slack.deliverSigned({ payload: { type: 'block_actions', actions: [{ value: apiKey }] } });
  await slack.deliverSigned({ fields: { command: '/vps', text: apiKey } });
  await owner.types('/vps status');
  await owner.sees('Unsaved root passwords');
  await owner.types('/vps audit');
  await owner.sees('Audit log');

  const created = hosting.listServers(account);
  expect(created).toHaveLength(6);
  const passwords = Object.fromEntries(
    created.map(({ id, label }) => [`the password of ${label}`, hosting.passwordOf(id) ?? '']),
  );
  const secrets = {
    ...passwords,
    'the API key': apiKey,
    'the signing secret': SIGNING_SECRET,
    'the bot token': BOT_TOKEN,
    'the app-level token': APP_TOKEN,
    'the encryption key': ENCRYPTION_KEY.split(':')[1] ?? '',
    'the link’s token': link.split('/').at(-1) ?? '',
  };
  const sent = slack.traffic().filter(({ from }) => from === 'app');
  const pages = await Promise.all(
    ['/livez', '/readyz', '/connect/x', '/nowhere'].map(async (path) =>
      (await fetch(`${app.url}${path}`)).text(),
    ),
  );
  const metrics = await readMetrics(app.url);
  const running = await readBytes(folder);
  expect(await app.stop()).toBe(0);
  const places = {
    'the log': app.output(),
    'our pages': `${page}${pages.join()}${metrics}`,
    'the files while running': running,
    'the files afterwards': await readBytes(folder),
    'addresses at the hosting API': JSON.stringify(hosting.requests()),
    'answers to Slack': JSON.stringify(slack.deliveries().map(({ response }) => response)),
    'texts of messages': JSON.stringify(messages.map(({ text }) => text)),
    'views and calls': sent
      .filter(({ what }) => what !== 'response_url')
      .map(({ request }) => JSON.stringify([...new URLSearchParams(request)]))
      .join('\n'),
    'all but preformatted blocks': JSON.stringify(
      messages.map(({ text, blocks }) => [text, withoutPreformatted(blocks)]),
    ),
    'messages to others': JSON.stringify(messages.filter(({ to }) => to !== USERS.mara.id)),
  };
  expect(app.output()).toContain('"level"');
  const { 'the link’s token': token, ...withoutToken } = secrets;
  const { 'messages to others': toOthers, 'all but preformatted blocks': blocks, ...rest } = places;
  expectWithout(rest, { ...secrets, ...replySecrets(slack) });
  // The link itself stands in one message, to the owner who asked for it.
  expectWithout({ 'messages to others': toOthers, blocks }, { ...withoutToken, ...replySecrets(slack) });
  expect(messages.filter((message) => JSON.stringify(message).includes(token)).map(({ to }) => to)).toEqual([
    USERS.olga.id,
  ]);
  // The local Slack masks what it knows to be secret: but for passwords where they belong, the app sent none of it.
  const masked = sent.filter(({ request }) =>
    readableOf(request).replaceAll(PREFORMATTED, '').includes('[masked]'),
  );
  expect(masked).toEqual([]);
  const open = sent.filter(({ request }) => readableOf(request).includes('rich_text_preformatted'));
  expect(new Set(open.map(({ what }) => what))).toEqual(new Set(['response_url', 'chat.postEphemeral']));
  for (const { what, request } of open.filter((each) => each.what === 'response_url')) {
    expect(`${what} ${request}`).toContain('"response_type":"ephemeral"');
  }
  // The passwords that should be seen were seen, so this test looks for the right values.
  for (const label of ['kept', 'saved', 'late']) {
    const shown = messages.filter((message) =>
      JSON.stringify(message).includes(passwords[`the password of ${label}`] ?? '?'),
    );
    expect(shown.map(({ to }) => to)).toContain(USERS.mara.id);
  }
});

it('a defect of the app is logged without its message, which may hold anything, and shown with its incident ID', async () => {
  await using team = await startTeam();
  const canary = 'CANARY-in-a-message';
  const fail = async () => {
    throw new TypeError(`could not do this with ${canary}`);
  };
  team.app.ports.audit.list = fail;
  await team.owner.types('/vps audit');
  await team.owner.sees(/incident \w{8}/);
  const incident = /incident (\w{8})/.exec(team.owner.screen())?.[1] ?? 'none';
  expect(team.watch.logged().split(incident)).toHaveLength(2);
  expect(team.watch.logged()).toContain('TypeError');

  team.app.ports.connectLinks.find = fail;
  const answer = await fetch(`${team.appUrl}/connect/abc`);
  expect(answer.status).toBe(500);
  const page = await answer.text();
  for (const place of [team.watch.logged(), team.owner.screen(), page]) expect(place).not.toContain(canary);
  expect(page).not.toMatch(/\bat .+:\d+|TypeError|\.ts/);
});
