import { Agent, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import type { Delivery } from '../../src/sandbox/slack/deliver.ts';
import { signBody } from '../../src/sandbox/slack/deliver.ts';
import { APP, TEAM, USERS, type UserName } from '../../src/sandbox/slack/workspace.ts';
import { EVENT_SAMPLES, SENDERS } from '../support/payloads/samples.ts';
import { envelope, type RawUser, rawUser } from '../support/raw-user.ts';
import type { LocalSlack } from '../support/slack/local-slack.ts';
import { ACTIONS } from '../support/surfaces.ts';
import { SIGNING_SECRET, type Team } from '../support/team.ts';
import type { Dice } from '../support/tries.ts';
import type { Arena } from './arena.ts';
import { damage, destroy, encodeText, mutateJson, oddText, type Path, writeJson } from './mutate.ts';

/** A signed request as Slack sends it: fields, or JSON in a form or by itself. */
export interface Sample {
  readonly kind: 'fields' | 'payload' | 'event';
  readonly content: Readonly<Record<string, unknown>>;
}

/** Lets a raw user do something, and returns what would have been sent. */
export async function sampleOf(
  team: Team,
  who: UserName,
  act: (by: RawUser) => Promise<unknown>,
): Promise<Sample> {
  const { slack } = team;
  const taken: Sample[] = [];
  const deliverSigned: LocalSlack['deliverSigned'] = async (sent) => {
    taken.push(
      'fields' in sent
        ? { kind: 'fields', content: sent.fields }
        : { kind: 'payload', content: sent.payload },
    );
    return {} as Delivery;
  };
  const as = slack.as.bind(slack);
  const commandFields = slack.commandFields.bind(slack);
  const caught = { as, commandFields, deliverSigned } as LocalSlack;
  await act(rawUser({ ...team, slack: caught }, who));
  const [sample] = taken;
  if (!sample) throw new Error('nothing was sent');
  return sample;
}

/** Who may not act: whatever gets through, nothing may change. */
const POWERLESS = ['vera', 'vera', 'nora', 'gus', 'sam'] as const satisfies readonly UserName[];

export type Surface = 'command' | 'action' | 'modal' | 'menu' | 'shortcut' | 'event';

/** What an owner's request may change only while it is whole. */
const ACTING = /start|stop|reboot|review|delete|disconnect|settings_spending|renew_all|grant|access/;

interface Act {
  readonly via: Surface;
  readonly name: string;
  /** What it can't do without. */
  readonly needed: readonly Path[];
  sample(arena: Arena, number: number): Promise<Sample>;
}

const PRESSED: readonly Path[] = [
  ['type'],
  ['user', 'id'],
  ['actions', 0, 'action_id'],
  ['actions', 0, 'value'],
];
const SUBMITTED: readonly Path[] = [
  ['type'],
  ['user', 'id'],
  ['view', 'callback_id'],
  ['view', 'private_metadata'],
];
const TYPED: readonly Path[] = [['user_id'], ['text'], ['command'], ['team_id']];
const MENTIONED: readonly Path[] = [
  ['type'],
  ...['type', 'user', 'text', 'channel', 'ts'].map((name) => ['event', name]),
];

const ORDER = { plan: 'micro', location: 'ams', image: 'debian-13' };

/** @otto presses a button. */
const pressing = (name: string, value: (serverId: number, number: number) => object): Act => ({
  ...{ via: 'action', name, needed: PRESSED },
  sample: ({ team, serverId }, number) =>
    sampleOf(team, 'otto', (by) => by.presses(name, value(serverId, number))),
});

/** @mara submits a form. */
const submitting = (
  name: string,
  metadata: (arena: Arena, number: number) => object,
  fields?: Record<string, string>,
): Act => ({
  ...{ via: 'modal', name, needed: SUBMITTED },
  sample: (arena, number) =>
    sampleOf(arena.team, 'mara', (by) =>
      by.submits(name, envelope(metadata(arena, number), `F-${number}`), fields),
    ),
});

/** When the month ends that is paid for the first server. */
function paidUntil({ team, serverId }: Arena): number {
  const server = team.hosting.listServers(team.account).find(({ id }) => id === serverId);
  return Date.parse(server?.paid_until ?? '');
}

/** What each of these users can do with one request, if nothing of it is missing. */
export const ACTS: readonly Act[] = [
  pressing('reboot', (id) => ({ id })),
  pressing('stop', (id) => ({ id: id + 1 })),
  pressing('reboot_several', (id, number) => ({
    ...{ id: `list-${number}`, at: Date.now() },
    servers: [[id + 3, 'web-4']],
  })),
  submitting('create_review', (_, number) => ({ order: { ...ORDER, label: `web-${number}` }, price: 290 })),
  // Without a price, which may be unknown.
  submitting('renew_review', (arena) => ({
    ...{ serverId: arena.serverId, label: 'web-1' },
    paidUntil: paidUntil(arena),
  })),
  submitting('delete', ({ serverId }) => ({ serverId: serverId + 3, label: 'web-4' }), { label: 'web-4' }),
  {
    ...{ via: 'command', name: 'reboot', needed: TYPED },
    sample: ({ team }) => sampleOf(team, 'otto', (by) => by.command('reboot web-2')),
  },
  {
    ...{ via: 'event', name: 'reboot', needed: MENTIONED },
    sample: async (_, number) =>
      eventOf('app_mention', USERS.otto.id, `<@${APP.botUserId}> reboot web-3`, number),
  },
];

/** An event of now, from a user of the local Slack. */
function eventOf(type: keyof typeof EVENT_SAMPLES, userId: string, text: string, number: number): Sample {
  const sender = SENDERS['a member of a plain workspace'];
  const sample = EVENT_SAMPLES[type]({ ...sender, userId, userTeamId: TEAM.id, messageTeamId: TEAM.id });
  const now = `${Math.floor(Date.now() / 1000)}.${String(number % 1_000_000).padStart(6, '0')}`;
  const written = JSON.stringify(sample)
    .replaceAll('T0OURS0001', TEAM.id)
    .replaceAll('A0APP00001', APP.id)
    .replaceAll('U0BOT00001', APP.botUserId)
    .replaceAll('C0CHANNEL1', 'C0OPS00001')
    .replaceAll(/"9\.\d"/g, JSON.stringify(now))
    .replaceAll('Ev0EVENT01', `Ev0${userId}${number}`);
  const content = JSON.parse(written);
  if ('text' in content.event) Object.assign(content.event, { text, thread_ts: undefined });
  return { kind: 'event', content: JSON.parse(JSON.stringify(content)) };
}

/** A malformed request, and to which app it goes. */
interface Malformed {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly done: readonly string[];
}

export async function makeMalformed(
  arena: Arena,
  via: Surface,
  dice: Dice,
  number: number,
): Promise<Malformed> {
  const kind = dice.number(10);
  const acts = ACTS.filter((act) => act.via === via);
  if (kind < 3 && acts.length > 0) {
    const act = dice.pick(acts) ?? acts[0];
    if (!act) throw new Error('there is no act');
    const sample = await act.sample(arena, number);
    return { url: arena.team.appUrl, ...destroyed(sample, act.needed, act.name, dice) };
  }
  const isOwner = kind < 6;
  const team = isOwner ? arena.installs : arena.team;
  const who = isOwner ? 'olga' : (dice.pick(POWERLESS) ?? 'nora');
  const [name, sample] = await pickSample(arena, team, who, via, dice, number);
  return { url: team.appUrl, ...mutated(sample, `${name} by ${who}`, dice) };
}

async function pickSample(
  { serverId }: Arena,
  team: Team,
  who: UserName,
  via: Surface,
  dice: Dice,
  number: number,
): Promise<readonly [string, Sample]> {
  if (via === 'event') {
    const type = dice.pick(Object.keys(EVENT_SAMPLES) as (keyof typeof EVENT_SAMPLES)[]) ?? 'app_mention';
    const text = dice.chance(0.5) ? `<@${APP.botUserId}> list` : `<@${APP.botUserId}> ${oddText(dice)}`;
    return [type, eventOf(type, USERS[who].id, text, number)];
  }
  const isOwner = who === 'olga';
  const action = dice.pick(ACTIONS.filter((one) => one.via === via && !(isOwner && ACTING.test(one.id))));
  if (!action) throw new Error(`there is no ${via}`);
  return [action.id, await sampleOf(team, who, (by) => action.send(by, serverId))];
}

function destroyed(sample: Sample, needed: readonly Path[], name: string, dice: Dice) {
  const path = dice.pick(needed) ?? [];
  if (sample.kind === 'fields') {
    const { [String(path[0])]: value = '', ...rest } = sample.content as Record<string, string>;
    const field = String(path[0]);
    const others = new URLSearchParams(rest).toString();
    const instead =
      dice.pick(['', `&${field}=`, `&${field}=${value}&${field}=${value}`, `&${field}[]=${value}`]) ?? '';
    return { body: `${others}${instead}`, headers: FORM, done: [`${name}: ${field} destroyed`] };
  }
  const { value, done } = destroy(sample.content, path, dice);
  return { ...encode(sample.kind, writeJson(value)), done: [name, done] };
}

function mutated(sample: Sample, name: string, dice: Dice) {
  const times = 1 + dice.number(3);
  const { kind, content } = sample;
  const changed = kind === 'fields' ? mutateFields(content, times, dice) : mutateJson(content, times, dice);
  const { body, headers } =
    kind === 'fields' ? { body: changed.text, headers: FORM } : encode(kind, changed.text);
  const done = [name, ...changed.done];
  switch (dice.number(12)) {
    case 0:
      return { body: damage(body, dice), headers, done: [...done, 'the body damaged'] };
    case 1: {
      const type = dice.pick(ODD_TYPES) ?? '';
      return { body, headers: { 'content-type': type }, done: [...done, `sent as ${type}`] };
    }
    case 2:
      return { body, headers: { ...headers, ...dice.pick(ODD_HEADERS) }, done: [...done, 'odd headers'] };
    default:
      return { body, headers, done };
  }
}

/** A command's fields, some of them missing, twice, under another name, or with an odd value. */
function mutateFields(content: Readonly<Record<string, unknown>>, times: number, dice: Dice) {
  let pairs = Object.entries(content).map(([name, value]) => [name, encodeURIComponent(String(value))]);
  const done: string[] = [];
  for (let time = 0; time < times; time++) {
    // What users type is the most varied.
    const at = dice.chance(0.4) ? pairs.findIndex(([name]) => name === 'text') : dice.number(pairs.length);
    const [name = '', value = ''] = pairs[at] ?? [];
    const odd = encodeText(oddText(dice));
    const otherName = dice.pick(['__proto__', `${name}[]`, 'constructor', 'payload', 'ssl_check']) ?? '';
    const kinds: readonly (readonly [string, string[][]])[] = [
      ['removed', []],
      ['twice', [value, odd].map((each) => [name, each])],
      ['renamed', [[otherName, value]]],
      ['odd', [[name, odd]]],
      ['with something odd', [[name, `${value}+${odd}`]]],
      ['badly encoded', [[name, `${value}%ff%E0%A4%A%`]]],
      ['damaged', [[name, damage(value, dice)]]],
    ];
    const [what, instead] = dice.pick(kinds) ?? ['', []];
    pairs = pairs.flatMap((pair, each) => (each === at ? instead : [pair]));
    done.push(`${name} ${what}`);
  }
  return { text: pairs.map(([name, value]) => `${name}=${value}`).join('&'), done };
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const JSON_TYPE = { 'content-type': 'application/json' };

function encode(kind: 'payload' | 'event', text: string) {
  if (kind === 'event') return { body: text, headers: JSON_TYPE };
  return { body: `payload=${encodeText(text)}`, headers: FORM };
}

/** As Slack would send it. */
export function encodeWhole({ kind, content }: Sample) {
  if (kind !== 'fields') return encode(kind, JSON.stringify(content));
  return { body: new URLSearchParams(content as Record<string, string>).toString(), headers: FORM };
}

const ODD_TYPES = [
  '',
  'text/plain',
  'application/json; charset=utf-16',
  'application/x-www-form-urlencoded; charset=nonsense',
  'multipart/form-data; boundary=',
];
const ODD_HEADERS: readonly Readonly<Record<string, string>>[] = [
  { 'x-slack-retry-num': '1e400', 'x-slack-retry-reason': '\u00ff' },
  { 'content-encoding': 'gzip' },
  { 'x-forwarded-for': '"', host: 'a:b:c' },
  { 'accept-encoding': '*;q=NaN', expect: '100-continue' },
];

const CONNECTIONS = new Agent({ keepAlive: true, maxSockets: 64 });

/** Sends it, well signed; gives the status, the answer, and the port of the connection that it went over. */
export function deliver(
  { url, body, headers }: Pick<Malformed, 'url' | 'body' | 'headers'>,
  patienceMs: number,
  agent = CONNECTIONS,
) {
  const timestamp = Math.floor(Date.now() / 1000);
  const signed = {
    ...headers,
    'x-slack-request-timestamp': String(timestamp),
    'x-slack-signature': signBody(SIGNING_SECRET, timestamp, Buffer.from(body).toString()),
    'content-length': String(Buffer.byteLength(body)),
  };
  return new Promise<{ status: number; text: string; localPort: number | undefined }>((resolve, reject) => {
    const options = { method: 'POST', agent, headers: signed, timeout: patienceMs };
    const outgoing = request(`${url}/slack/events`, options, (incoming) => {
      const { statusCode: status = 0, socket } = incoming;
      const { localPort } = socket;
      readText(incoming).then((text) => resolve({ status, text, localPort }), reject);
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')));
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
