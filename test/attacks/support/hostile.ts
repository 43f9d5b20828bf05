import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { silentLog } from '../../../src/log.ts';
import { FAULT_KINDS } from '../../../src/sandbox/hosting/faults.ts';
import { OPERATIONS } from '../../../src/sandbox/hosting/protocol.ts';
import type { Delivery } from '../../../src/sandbox/slack/deliver.ts';
import { listElements, optionsOf, type PlacedElement } from '../../../src/sandbox/slack/entered.ts';
import { isJson } from '../../../src/sandbox/slack/json.ts';
import type { StoredMessage } from '../../../src/sandbox/slack/messages.ts';
import type { Entered, Json } from '../../../src/sandbox/slack/page-api.ts';
import { SlackRefusal } from '../../../src/sandbox/slack/refusal.ts';
import { OTHER_TEAM, ROLE_HOLDERS, TEAM, USERS, type User } from '../../../src/sandbox/slack/workspace.ts';
import { movableSystem } from '../../support/clocks.ts';
import { startTeam, type Team } from '../../support/team.ts';
import { type Dice, makeDice } from './tries.ts';

/** A team under attack, and what the attack needs to know of it. */
export interface HostileTeam extends Team {
  readonly dice: Dice;
  readonly system: ReturnType<typeof movableSystem>;
  /** Every message of the app in each of its versions, oldest first. */
  readonly messages: readonly StoredMessage[];
  /** Everything that was logged, and how much of it as an error. */
  readonly logged: readonly string[];
  readonly errors: readonly string[];
  /** How often each kind of act was tried. */
  readonly tried: Map<string, number>;
  note(kind: string): void;
}

export const LABELS = ['web-1', 'web-2', 'db-1', 'Web-1', '<!channel>', 'x'.repeat(100)] as const;

/** Users who may do something, and those who may do nothing, even with an approval. */
export const PRIVILEGED: readonly User[] = [USERS.olga, USERS.mara, USERS.otto, USERS.vera];

const UNPRIVILEGED: readonly User[] = [USERS.nora, USERS.gus, USERS.sam, USERS.finn];

/** Starts it: a few servers, and a service that is soon given up on. */
export async function startHostile(seed: number): Promise<HostileTeam> {
  const system = movableSystem();
  const errors: string[] = [];
  const logged: string[] = [];
  const write = (to: readonly string[][]) => (words: string, fields?: object) => {
    for (const list of to) list.push(`${words} ${JSON.stringify(fields ?? {})}`);
  };
  const log = { ...silentLog, info: write([logged]), warn: write([logged]), error: write([logged, errors]) };
  const team = await startTeam({
    system,
    log,
    balanceMinor: 100_000_000,
    config: { HOSTING_TIMEOUT_MS: 700 },
  });
  // Bolt gives up on unacknowledged requests after 3,001 ms.
  team.slack.app.ackTimeoutMs = 4000;
  team.hosting.seedServers(team.account, 4, 'web');
  const messages: StoredMessage[] = [];
  team.slack.onEvent((event) => {
    if (event.type === 'message' || event.type === 'message_changed') messages.push(event.message);
  });
  const tried = new Map<string, number>();
  const note = (kind: string) => void tried.set(kind, (tried.get(kind) ?? 0) + 1);
  return Object.assign(team, { dice: makeDice(seed), system, messages, logged, errors, tried, note });
}

const COMMANDS = [
  '',
  'help',
  'list',
  'list web',
  'show {label}',
  'catalog',
  'status',
  'reboot {label}',
  'stop {label}',
  'start {label} {label}',
  'create',
  'create plan=small location=ams image=debian-13 label={label}',
  'create plan=small location=ams image=debian-13 label={label}',
  'renew {label}',
  'delete {label}',
  'password',
  'password {label}',
  'settings',
  'access',
  'audit',
  'connect',
  'disconnect',
  'nonsense {label}',
];

/**
 * One act of this user, or of one without a role, at a client: an order, a command, or something on the screen. Roles are
 * never asked for or granted here.
 */
export async function actAsUser(team: HostileTeam, privileged: User): Promise<void> {
  const { dice } = team;
  const user = dice.chance(0.85) ? privileged : (dice.pick(UNPRIVILEGED) ?? privileged);
  if (user === USERS.finn) return;
  try {
    if (dice.chance(0.3)) return await order(team, user);
    const isDone = dice.chance(0.75) && (await useScreen(team, user));
    if (!isDone) await typeCommand(team, user);
  } catch (error) {
    // What a real client would refuse is no act.
    if (!(error instanceof SlackRefusal)) throw error;
  }
}

/** Orders something as far as this user gets. */
async function order(team: HostileTeam, user: User): Promise<void> {
  const { dice, slack } = team;
  team.note('orders');
  const screen = slack.as(user).in(user.isExternal ? '#acme-shared' : '#ops');
  const open = screen.modal();
  if (open) await screen.closes({ all: true });
  // An open doubt blocks its label: some are ordered again and again, others once.
  const label = `"${dice.chance(0.4) ? dice.pick(LABELS) : `new-${dice.number(1000)}`}"`;
  const create = `create plan=small location=ams image=debian-13 label=${label}`;
  await screen.types(`/vps ${dice.chance(0.7) ? create : `renew ${label}`}`, { isForced: true });
  const pay = () => screen.modal()?.submit?.match(/and pay$|Request approval/);
  for (let looks = 0; looks < 40 && !pay(); looks++) await sleep(25);
  const modal = screen.modal();
  if (!modal || !pay()) return;
  const submit = () => perform(team, 'payments', { as: user.id, do: 'submit', view: modal.id });
  await Promise.all(dice.chance(0.3) ? [submit(), submit()] : [submit()]);
}

function randomCommand({ dice }: HostileTeam): string {
  return (dice.pick(COMMANDS) ?? '').replaceAll('{label}', () => `"${dice.pick(LABELS)}"`);
}

async function typeCommand(team: HostileTeam, user: User): Promise<void> {
  team.note('commands');
  const places = user.isExternal ? ['#acme-shared'] : ['#ops', '#general', 'dm'];
  const screen = team.slack.as(user).in(team.dice.pick(places) ?? '#ops');
  await screen.types(`/vps ${randomCommand(team)}`, { isForced: true });
}

/** Fills in and submits the open form, closes it, or presses something on a message. */
async function useScreen(team: HostileTeam, user: User): Promise<boolean> {
  const { dice, slack } = team;
  const screen = slack.as(user).in(user.isExternal ? '#acme-shared' : '#ops');
  const modal = screen.modal();
  if (!modal) return pressOnMessage(team, user);
  if (dice.chance(0.1)) return perform(team, 'closings', { as: user.id, do: 'close', view: modal.id });
  const place = { view: modal.id };
  const elements = listElements(modal.blocks);
  for (const at of elements.filter(({ block }) => block.type === 'input')) {
    const value = valueFor(team, at);
    const named = { place, block: at.blockId, action: at.actionId };
    if (value !== undefined && dice.chance(0.7))
      await perform(team, 'inputs', { as: user.id, do: 'fill', ...named, value });
  }
  const pressed = elements.find(({ element }) => element.type === 'button');
  if (pressed && dice.chance(0.1)) return press(team, user, place, pressed);
  return perform(team, 'submissions', { as: user.id, do: 'submit', view: modal.id });
}

/** The newest messages come first; old ones are stale. */
async function pressOnMessage(team: HostileTeam, user: User): Promise<boolean> {
  const seen = team.messages.slice(-80).filter(({ to }) => to === undefined || to === user.id);
  const message = team.dice.pick(seen.filter(({ blocks }) => listElements(blocks).some(isFree)));
  const at = message && team.dice.pick(listElements(message.blocks).filter(isFree));
  if (!message || !at) return false;
  return press(team, user, { channel: message.channel, ts: message.ts }, at);
}

/** Access is not asked for: then the users without a role stay without one. */
function isFree({ actionId }: PlacedElement): boolean {
  return !actionId.includes('access');
}

function press(team: HostileTeam, user: User, place: object, at: PlacedElement): Promise<boolean> {
  const named = { place, block: at.blockId, action: at.actionId, confirmed: true };
  return perform(team, 'presses', { as: user.id, do: 'action', ...named, value: valueFor(team, at) ?? null });
}

/** What can be entered here; the right label now and then, where one has to be typed. */
function valueFor({ dice }: HostileTeam, { element }: PlacedElement): Entered | undefined {
  const options = optionsOf(element).map(({ value }) => String(value));
  if (options.length > 0) return dice.pick(options);
  return element.type === 'plain_text_input' ? dice.pick([...LABELS, 'web-1', 'web-2', '']) : undefined;
}

/** Does it in the browser of this user; what the client refuses is no act. */
async function perform(team: HostileTeam, kind: string, action: object): Promise<boolean> {
  team.note(kind);
  const answer = await fetch(`${team.slack.url}/page/do`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(action),
  });
  await answer.text();
  return true;
}

/** Another workspace of the same Slack, which this app serves not. */
const SECOND_WORKSPACE = 'T0SECOND01';

const ATTACKS = {
  'replayed requests': replay,
  'requests that are signed again': signAgain,
  'double presses': double,
  'forms and buttons of other users': useOthers,
  'users of other workspaces': comeFromElsewhere,
  'damaged requests': damage,
} as const;

/** One request that no client sends, well signed. */
export async function attack(team: HostileTeam): Promise<void> {
  const [name, send] = team.dice.pick(Object.entries(ATTACKS)) ?? [];
  const before = team.dice.pick(team.slack.deliveries().slice(-150).filter(isGenuine));
  if (!name || !send || !before) return;
  team.note(name);
  await send(team, before);
}

/** Requests that were made up here are not altered again: they would only grow. */
function isGenuine({ what, body }: Delivery): boolean {
  return !/made up|again/.test(what) && body.length < 100_000;
}

async function replay({ slack, dice }: HostileTeam, before: Delivery): Promise<void> {
  const signature = before.headers['x-slack-signature'] ?? '';
  if (dice.chance(0.5)) await slack.redeliver(before);
  else
    await slack.redeliver({
      ...before,
      headers: { ...before.headers, 'x-slack-signature': `${signature}=1` },
    });
}

async function signAgain({ slack, dice }: HostileTeam, { body }: Delivery): Promise<void> {
  const timestamp = String(Math.floor(Date.now() / 1000) - dice.number(200));
  await slack.deliverRaw(body, { timestamp, signature: slack.sign(body, timestamp) });
}

async function double({ slack }: HostileTeam, before: Delivery): Promise<void> {
  await Promise.all([slack.redeliver(before), slack.redeliver(before), slack.redeliver(before)]);
}

async function useOthers({ slack, dice }: HostileTeam, before: Delivery): Promise<void> {
  const other = dice.pick(UNPRIVILEGED);
  if (other) await slack.deliverAltered(before, (content) => withUser(content, other.id, other.teamId));
}

async function comeFromElsewhere(team: HostileTeam, before: Delivery): Promise<void> {
  const workspace = team.dice.pick([SECOND_WORKSPACE, OTHER_TEAM.id]) ?? SECOND_WORKSPACE;
  if (team.dice.chance(0.3)) {
    const fields = team.slack.commandFields('nora', '#ops', randomCommand(team));
    await team.slack.deliverSigned({ fields: { ...fields, team_id: workspace, user_id: 'U0ELSEWHERE' } });
    return;
  }
  await team.slack.deliverAltered(before, (content) => {
    const altered = withUser(content, 'U0ELSEWHERE', workspace);
    if (!isJson(altered.team)) return { ...altered, ...('team_id' in altered && { team_id: workspace }) };
    const view = isJson(altered.view) && {
      view: { ...altered.view, team_id: workspace, app_installed_team_id: workspace },
    };
    return { ...altered, team: { ...altered.team, id: workspace }, ...view };
  });
}

function withUser(content: Json, id: string, teamId: string): Json {
  if (typeof content.user_id === 'string') return { ...content, user_id: id };
  return isJson(content.user) ? { ...content, user: { ...content.user, id, team_id: teamId } } : content;
}

/** By a user who may do nothing, so that whatever is changed must not change anything. */
async function damage({ slack, dice }: HostileTeam, before: Delivery): Promise<void> {
  const other = dice.pick(UNPRIVILEGED);
  await slack.deliverAltered(before, (content) => {
    let damaged = other ? withUser(content, other.id, other.teamId) : content;
    for (let times = 1 + dice.number(3); times > 0; times--) damaged = damageOne(damaged, dice);
    return damaged;
  });
}

const GARBAGE: readonly unknown[] = [
  null,
  0,
  -1,
  1e308,
  true,
  '',
  [],
  {},
  [null],
  'x'.repeat(50_000),
  '\u0000\u001b[31m\u202e',
  '\ud800',
  '{"__proto__":{"isAdmin":true}}',
  { ['__proto__']: { a: 1 }, constructor: 1, toString: null },
  { id: { id: {} } },
];

/** Replaces or removes one value somewhere inside; who acts stays the same. */
function damageOne(content: Json, dice: Dice): Json {
  const name = dice.pick(Object.keys(content).filter((each) => !['user', 'user_id'].includes(each)));
  if (name === undefined) return content;
  const value = content[name];
  if (isJson(value) && dice.chance(0.8)) return { ...content, [name]: damageOne(value, dice) };
  if (Array.isArray(value) && isJson(value[0]) && dice.chance(0.8))
    return { ...content, [name]: [damageOne(value[0], dice), ...value.slice(1)] };
  const { [name]: _, ...rest } = content;
  return dice.chance(0.2) ? rest : { ...rest, [name]: dice.pick(GARBAGE) };
}

const REFUSALS = [
  'rate_limited',
  'not_enough_balance',
  'limit',
  'not_created',
  'wrong_state',
  'not_found',
] as const;

const SLACK_METHODS = ['chat.postMessage', 'chat.postEphemeral', 'views.open', 'views.update', 'users.info'];

const CHANGES = {
  'faults of the hosting service': breakHosting,
  'faults of Slack': breakSlack,
  'removed API keys': removeKey,
  'revoked roles': revokeRole,
  'clock steps': stepClock,
} as const;

/** One misfortune; each of them ends by itself or with a later one. */
export async function disturb(team: HostileTeam): Promise<void> {
  const [name, change] = team.dice.pick(Object.entries(CHANGES)) ?? [];
  if (!name || !change) return;
  team.note(name);
  await change(team);
}

function breakHosting({ hosting, dice }: HostileTeam): void {
  if (dice.chance(0.3)) hosting.faults.clear();
  const on = dice.pick(['paid', 'paid', 'create', 'any', ...OPERATIONS] as const) ?? 'any';
  const kind = dice.pick(FAULT_KINDS) ?? 'hang';
  const isChecking = kind.startsWith('checking');
  const isRefusal = kind === 'error' || kind.startsWith('error_');
  hosting.faults.add({
    on: isChecking || isRefusal ? 'create' : on,
    kind,
    times: 1 + dice.number(2),
    ...(isChecking && { afterMs: dice.number(2000) }),
    ...(isRefusal && { code: dice.pick(REFUSALS) ?? 'limit' }),
    ...(kind.startsWith('slow') && { delayMs: dice.number(1000) }),
  });
}

function breakSlack({ slack, dice }: HostileTeam): void {
  const { faults } = slack;
  const method = dice.pick(SLACK_METHODS) ?? 'views.update';
  const switches = [
    () => faults.clear(),
    () => faults.clear(),
    () => faults.rateLimit('*', { times: 1 + dice.number(5), retryAfterSeconds: 1 }),
    () => faults.loseEphemerals(),
    () => faults.failMethod('views.update', 'not_found', 3),
    () => faults.failMethod(method, 'internal_error', 2),
    () => faults.breakReplyUrls(dice.pick([404, 500, 200]) ?? 500, 3),
    () => faults.refuseBlock(dice.pick(['data_table', 'rich_text']) ?? 'data_table'),
    () => faults.applyAcksLate(dice.number(800)),
  ];
  dice.pick(switches)?.();
}

/** It comes back soon: the same one, or another one of the same account. */
async function removeKey({ app, apiKey, hosting, account, dice }: HostileTeam): Promise<void> {
  const { apiKeys } = app.ports;
  if ((await apiKeys.find(TEAM.id)) && dice.chance(0.3)) {
    await apiKeys.remove(TEAM.id);
    return;
  }
  const key = dice.chance(0.7) ? apiKey : hosting.createKey(account, { beforeTopUp: true });
  await apiKeys.put(TEAM.id, new Secret(key), USERS.olga.id, Date.now());
}

async function revokeRole({ app, dice }: HostileTeam): Promise<void> {
  const holder = dice.pick(ROLE_HOLDERS);
  if (!holder) return;
  const subject = { subjectKind: 'user', subjectId: holder.id } as const;
  const { grants } = app.ports;
  const has = (await grants.list(TEAM.id)).some(({ subjectId }) => subjectId === holder.id);
  if (has && dice.chance(0.3)) await grants.removeAll(TEAM.id, subject);
  else
    await grants.put({
      ...{ workspaceId: TEAM.id, ...subject, role: holder.role },
      ...{ pattern: '', grantedBy: USERS.olga.id, grantedAt: Date.now() },
    });
}

/** Slack's own clock stays: the app's may differ by less than the five minutes for which a signature is good. */
function stepClock({ system, dice }: HostileTeam): void {
  const aheadMs = system.now() - Date.now();
  const wantedMs = (dice.number(480) - 240) * 1000;
  system.stepWall(wantedMs - aheadMs);
}

/** Everything works again, and everybody has what they had. */
export async function calmDown(team: HostileTeam): Promise<void> {
  const { app, apiKey, hosting, slack, system } = team;
  hosting.faults.clear();
  slack.faults.clear();
  hosting.clock.advance(10_000);
  system.stepWall(Date.now() - system.now());
  await app.ports.apiKeys.put(TEAM.id, new Secret(apiKey), USERS.olga.id, Date.now());
}

interface OrderRow {
  readonly id: string;
  readonly actor_id: string;
  readonly kind: string;
  readonly state: string;
  readonly reason: string | null;
  readonly server_id: number | null;
  readonly attempt: number;
}

function readOrders({ environment }: HostileTeam): readonly OrderRow[] {
  const path = (environment.DATABASE_URL ?? '').replace(/^sqlite:/, '');
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = database.prepare("select * from operations where kind <> 'delete'").all();
  database.close();
  return rows as unknown as OrderRow[];
}

/** Waits until every order has an outcome, or is looked for. */
export async function settleOrders(team: HostileTeam): Promise<void> {
  const isMoving = ({ state }: OrderRow) => state === 'prepared' || state === 'sent';
  await expect.poll(() => readOrders(team).filter(isMoving), { timeout: 150_000, interval: 50 }).toEqual([]);
}

/** What was paid is what is recorded, or is still looked for; no order was paid twice. */
export function checkMoney(team: HostileTeam): void {
  const { hosting, account } = team;
  const orders = readOrders(team);
  const settled = orders.filter(({ state }) => state === 'settled');
  const open = orders.filter(({ state, reason }) => state === 'unconfirmed' || reason === 'decided_not_done');
  const paid = hosting.charges(account).length - hosting.refunds(account).length;
  expect(paid, 'charges for what is recorded').toBeGreaterThanOrEqual(
    settled.length - countMadeUp(settled, team),
  );
  expect(paid, 'no charge that nobody knows of').toBeLessThanOrEqual(settled.length + open.length);
  const sent = hosting.requests().filter(({ operation, code }) => {
    return (operation === 'create' || operation === 'renew') && code !== 'rate_limited';
  });
  const attempts = orders.filter(({ attempt }) => attempt > 0);
  expect(sent.length, 'one paid request for each confirmation').toBeLessThanOrEqual(attempts.length);
}

/** A manager may decide that an order was done although it was not. */
function countMadeUp(settled: readonly OrderRow[], { hosting, account }: HostileTeam): number {
  const charged = new Set(hosting.charges(account).map(({ serverId }) => serverId));
  return settled.filter(({ server_id }) => server_id === null || !charged.has(server_id)).length;
}

/** A root password is in its creator's messages alone, and in no log. */
export function checkPasswords(team: HostileTeam): void {
  const creates = readOrders(team).filter(({ kind }) => kind === 'create');
  const creators = new Map(creates.map(({ server_id, actor_id }) => [server_id, actor_id]));
  const ids = team.hosting.requests({ operation: 'create' }).flatMap(({ serverId }) => serverId ?? []);
  const log = team.logged.join('\n');
  for (const id of ids) {
    const password = team.hosting.passwordOf(id);
    if (password === undefined) continue;
    expect(log).not.toContain(password);
    const written = JSON.stringify(password).slice(1, -1);
    const holders = team.messages.filter(({ blocks }) => JSON.stringify(blocks).includes(written));
    for (const { to, text } of holders) {
      expect(to, `who reads the root password of ${id}`).toBe(creators.get(id));
      expect(text).not.toContain(password);
    }
  }
}

const FREE = ['panel', 'list', 'show', 'catalog', 'status', 'password', 'access_ask', 'access_withdraw'];

/** Users without a role, guests and strangers changed nothing. */
export async function checkPermissions(team: HostileTeam): Promise<void> {
  for (const id of [...UNPRIVILEGED.map((user) => user.id), 'U0ELSEWHERE']) {
    const entries = await team.app.ports.audit.list({ workspaceId: TEAM.id, actorId: id, limit: 10_000 });
    const done = entries.filter(({ outcome }) => outcome === 'done' || outcome === 'in_doubt');
    expect(
      done.filter(({ action }) => !FREE.includes(action)).map(({ action }) => `${id} ${action}`),
    ).toEqual([]);
  }
  expect(readOrders(team).filter(({ actor_id }) => UNPRIVILEGED.some(({ id }) => id === actor_id))).toEqual(
    [],
  );
}

/** Traces of the source code. */
const INSIDES = /\bat .+:\d+:\d+|node_modules|\.[jt]s:\d+|TypeError|ZodError/;

/** Every request was answered, those of clients in time, and nothing surprised the app. */
export function checkAnswers(team: HostileTeam): void {
  const deliveries = team.slack.deliveries();
  const isLate = ({ what, status, tookMs }: Delivery) =>
    status === null || (tookMs > 3000 && !what.startsWith('made up'));
  expect(deliveries.filter(isLate).map(describe), 'late').toEqual([]);
  // Bolt itself answers a submission without a form with 500.
  const hasFailed = ({ what, status, response }: Delivery) =>
    (status !== null && status >= 500 && !what.startsWith('made up')) || INSIDES.test(response);
  expect(deliveries.filter(hasFailed).map(describe), 'failed').toEqual([]);
  expect(team.errors).toEqual([]);
}

function describe({ what, status, tookMs, response, body }: Delivery): string {
  return `${what}: ${status} after ${tookMs} ms: ${response.slice(0, 200)} to ${body.slice(0, 1000)}`;
}

/** How many orders ended in which state, for the output. */
export function countOrders(team: HostileTeam): string {
  const states = readOrders(team).map(({ state, reason }) => [state, reason].filter(Boolean).join(' '));
  return [...new Set(states)]
    .map((one) => `${states.filter((each) => each === one).length} ${one}`)
    .join(', ');
}
