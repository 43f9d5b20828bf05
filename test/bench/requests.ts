import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import { WebClient } from '@slack/web-api';
import type { Hosting } from '../../src/sandbox/hosting/start.ts';
import { BOT_TOKEN } from '../support/environment.ts';
import { startKillableTeam } from '../support/killable-team.ts';
import type { LocalSlack } from '../support/slack/local-slack.ts';
import type { Persona } from '../support/slack/persona.ts';
import { type Figure, quantile, rounded } from './figures.ts';
import { ROOT } from './processes.ts';

// How soon does what a user asks for reach the hosting API? From the moment at which Slack's request leaves for the app to the
// moment at which the reboot arrives at the hosting service, both of which run in this process; the app is another one.
const SAMPLES = 40;
/** The first ones are left out: the compiler of JavaScript does its work. */
const WARM_UP = 5;
/** What a user is promised (docs/servers.md). */
const PROMISED_MS = 1000;
const PATIENCE_MS = 20_000;

type World = Awaited<ReturnType<typeof startKillableTeam>>;

/** What a bare Bolt doesn't keep to. */
const BARE = { slackRulesKept: 'it answers nothing' };

/** One way to reboot; `prepare` does what comes before the request, and returns the request. */
interface Way {
  readonly name: string;
  prepare(owner: Persona, server: Rebootable, world: World): Promise<() => Promise<unknown>>;
}

interface Rebootable {
  readonly id: number;
  readonly label: string;
}

/** Types it, about the server by this name. */
const typed = (nameOf: (server: Rebootable) => unknown, before = ''): readonly Way[] =>
  [
    { name: 'slash command', channel: '#ops', text: '/vps reboot' },
    { name: 'mention', channel: '#ops', text: '@vps reboot' },
    { name: 'direct message', channel: 'dm', text: 'reboot' },
  ].map(({ name, channel, text }) => ({
    name: before + name,
    prepare: async (owner, server) => () => owner.in(channel).types(`${text} ${nameOf(server)}`),
  }));

const WAYS: readonly Way[] = [
  ...typed(({ label }) => label),
  {
    name: 'message shortcut, its Reboot button',
    prepare: async (owner, { label }, { slack }) => {
      await slack.posts('#ops', { text: `Disk full on ${label}` });
      await owner.usesMessageShortcut('manage_server', `on ${label}`);
      await owner.sees(`Manage server ${label}`);
      return async () => {
        await owner.presses('Reboot');
        await owner.closes();
      };
    },
  },
  {
    name: 'server card, its Reboot button',
    prepare: async (owner, { id, label }) => {
      const fresh = owner.in('#ops').overlooksOldMessages();
      await fresh.types(`/vps show ${label}`);
      await fresh.sees(String(id));
      return () => fresh.presses('Reboot');
    },
  },
];

/** What a bare Bolt app is asked: it is given the server's ID, and does no more than to acknowledge and to call the API. */
const BARE_WAYS: readonly Way[] = [
  ...typed(({ id }) => id, 'bare Bolt, '),
  {
    name: 'bare Bolt, button',
    prepare: async (owner, { id }, { slack }) => {
      const fresh = owner.in('#ops').overlooksOldMessages();
      await postButton(slack, `reboot ${id}`);
      return () => fresh.presses('Reboot');
    },
  },
];

/** Measures every way, the app's and a bare Bolt's, which is given the ID and checks nothing. */
export async function measureRequests(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const way of [...WAYS, ...BARE_WAYS]) {
    const isBare = BARE_WAYS.includes(way);
    const tookMs = await measureWay(way, isBare);
    const [p50, p99] = [quantile(tookMs, 0.5), quantile(tookMs, 0.99)];
    const aim = isBare ? {} : { aim: `p99 ≤ ${PROMISED_MS} ms`, isMet: p99 <= PROMISED_MS };
    const measured = `p50 ${rounded(p50)} ms, p99 ${rounded(p99)} ms`;
    figures.push({ what: `a reboot reaches the hosting API: ${way.name}`, measured, ...aim });
  }
  return figures;
}

/** Each way has an account and an app of its own: 300 requests a minute are not enough for all. */
async function measureWay(way: Way, isBare: boolean): Promise<readonly number[]> {
  await using team = await startKillableTeam({
    servers: SAMPLES + WARM_UP,
    mode: 'http',
    hasRateLimits: false,
    exempt: isBare ? BARE : {},
  });
  const { hosting, account } = team;
  const path = isBare ? 'test/bench/bare-bolt.mjs' : 'dist/main.js';
  await team.start({ API_KEY: hosting.createKey(account) }, [process.execPath, `${ROOT}${path}`]);
  const tookMs: number[] = [];
  for (const { id, label } of hosting.listServers(account))
    tookMs.push(await timeOne(way, { id: Number(id), label: String(label) }, team));
  return tookMs.slice(WARM_UP);
}

/** @throws Error if the reboot doesn't arrive */
async function timeOne(way: Way, server: Rebootable, world: World): Promise<number> {
  const owner = world.slack.as('olga').in('#ops').overlooksOldMessages();
  const request = await way.prepare(owner, server, world);
  let leftAt: number | undefined;
  const onRequest = (message: unknown) => {
    const { request: outgoing } = message as { request: ClientRequest };
    if (outgoing.path === '/slack/events') leftAt ??= performance.now();
  };
  subscribe('http.client.request.start', onRequest);
  const arrived = awaitReboot(world.hosting, `${way.name}, ${server.label}`);
  await request();
  const arrivedAt = await arrived;
  unsubscribe('http.client.request.start', onRequest);
  return arrivedAt - (leftAt ?? Number.NaN);
}

/** When the next reboot arrives. @throws Error if none does */
export function awaitReboot(hosting: Hosting, what: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const giveUp = setTimeout(() => reject(new Error(`no reboot arrived: ${what}`)), PATIENCE_MS);
    const stop = hosting.onEvent((event) => {
      if (event.kind !== 'arrived' || event.request.operation !== 'reboot') return;
      clearTimeout(giveUp);
      stop();
      resolve(performance.now());
    });
  });
}

async function postButton({ apiUrl: slackApiUrl }: LocalSlack, value: string): Promise<void> {
  const text = { type: 'plain_text', text: 'Reboot' } as const;
  const button = { type: 'button', action_id: 'reboot', value, text } as const;
  const blocks = [{ type: 'actions' as const, elements: [button] }];
  const client = new WebClient(BOT_TOKEN, { slackApiUrl });
  await client.chat.postMessage({ channel: '#ops', text: 'Reboot', blocks });
}
