import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultRule } from '../../src/sandbox/hosting/faults.ts';
import type { Delivery } from '../../src/sandbox/slack/deliver.ts';
import { listElements } from '../../src/sandbox/slack/entered.ts';
import { SlackRefusal } from '../../src/sandbox/slack/refusal.ts';
import { USERS, type User } from '../../src/sandbox/slack/workspace.ts';
import type { Shown } from '../support/invariants.ts';
import type { Persona } from '../support/slack/persona.ts';
import { directChannelOf } from './soak.ts';
import type { SoakTeam } from './soak-team.ts';

type Act = (team: SoakTeam, user: User) => Promise<void>;

/** What users go on doing until the time is over. */
export async function load(team: SoakTeam, untilMs: number): Promise<void> {
  // In the long run, about as much as fits into 300 requests a minute.
  const pauseMs = team.isLong ? 8000 : 300;
  const managers = team.managers.slice(0, -2);
  const pair = team.managers.slice(-2);
  await Promise.all([
    ...managers.map((user) => goOn(team, user, MANAGER_ACTS, untilMs, pauseMs)),
    goOn(team, USERS.otto, [reboot, read], untilMs, pauseMs),
    goOn(team, USERS.vera, [read], untilMs, pauseMs),
    goOn(team, pair[0] ?? USERS.mara, [renewTogether], untilMs, pauseMs),
  ]);
}

async function goOn(
  team: SoakTeam,
  user: User,
  acts: readonly Act[],
  untilMs: number,
  pauseMs: number,
): Promise<void> {
  const { dice, recorded } = team;
  while (Date.now() < untilMs) {
    const act = dice.pick(acts);
    if (!act) return;
    recorded.acts.set(act.name, (recorded.acts.get(act.name) ?? 0) + 1);
    await tryTo(act(team, user));
    await sleep(dice.number(pauseMs));
  }
}

/** A new server, under a label of its own. */
async function orderServer(team: SoakTeam, user: User): Promise<void> {
  const { recorded, dice, slack } = team;
  const label = `${user.name}-${recorded.labels++}`;
  const screen = await openScreen(team, user);
  const command = `/vps create plan=small location=ams image=debian-13 label=${label}`;
  if (!(await opensForm(screen, command, 'Create and pay'))) return;
  const order = { label, userId: user.id, isTaken: false };
  recorded.orders.push(order);
  const deliveries = await submitUntilTaken(team, screen, 'Create and pay');
  order.isTaken = isTakenBy(deliveries, /Creating|Already confirmed/);
  const [first] = deliveries;
  // An attacker, or a proxy, sends the identical request again.
  if (first && dice.chance(0.3)) await slack.redeliver(first);
}

/** Two users renew the same month of the same server at once. */
async function renewTogether(team: SoakTeam): Promise<void> {
  const { recorded, hosting, account, managers } = team;
  const pair = managers.slice(-2);
  const server = team.dice.pick(hosting.listServers(account).filter(({ label }) => label.startsWith('old-')));
  if (!server) return;
  const screens = await Promise.all(pair.map((user) => openScreen(team, user)));
  const command = `/vps renew ${server.label}`;
  await Promise.all(screens.map((screen) => opensForm(screen, command, 'Renew and pay')));
  const renewal = { label: server.label, pressedAtMs: Date.now(), takenFor: new Set<string>() };
  recorded.renewals.push(renewal);
  await Promise.all(
    screens.map(async (screen) => {
      const deliveries = await submitUntilTaken(team, screen, 'Renew and pay');
      if (isTakenBy(deliveries, /^(?!.*Someone else).*(?:Renewing|Already confirmed)/s))
        renewal.takenFor.add(screen.id);
    }),
  );
}

/** A deletion that two others approve at the same moment, each of them twice. */
async function deleteApproved(team: SoakTeam, user: User): Promise<void> {
  const { recorded, hosting, account } = team;
  const prefix = `gone-${recorded.labels++}-${user.name}`;
  const [serverId = 0] = hosting.seedServers(account, 1, prefix);
  const label = `${prefix}-1`;
  const deletion = { serverId, label, requesterId: user.id, isTaken: false, approvals: 0 };
  recorded.deletions.push(deletion);
  // The app's list of servers is good for two seconds.
  await sleep(2100);
  const screen = await openScreen(team, user);
  if (!(await opensForm(screen, `/vps delete ${label}`, 'Request approval'))) return;
  await screen.fills({ [`To confirm, type ${label}`]: label });
  const deliveries = await submitUntilTaken(team, screen, 'Request approval');
  deletion.isTaken = isTakenBy(deliveries, /Waiting for another manager|already/);
  const approvers = [USERS.olga, ...team.managers].filter(({ id }) => id !== user.id).slice(0, 2);
  await Promise.all(
    approvers.map(async (approver) => {
      const wanted = `wants to *delete* \`${label}\``;
      const card = await waitFor(() => findCard(team, approver, wanted));
      if (!card) return;
      const pressed = await Promise.all([1, 2].map(() => pressOn(team, approver, card, 'approval_approve')));
      deletion.approvals += pressed.filter(Boolean).length;
    }),
  );
}

/** A user without a role asks for one, and an owner grants it, pressing twice. */
async function askForRole(team: SoakTeam, manager: User): Promise<void> {
  const { recorded, slack } = team;
  const name = `guest${recorded.labels++}${manager.name}`;
  const user = slack.admin.addUser({ id: `U0${name.toUpperCase()}`, name });
  recorded.roleRequests.push(user.id);
  const screen = slack.as(user).in('#ops');
  if (!(await opensForm(screen, '/vps access ask viewer', 'Send request'))) return;
  await screen.fills({ 'Why do you need it?': 'on call' });
  await submitUntilTaken(team, screen, 'Send request');
  const card = await waitFor(() => findCard(team, USERS.olga, `<@${user.id}>`));
  if (card) await Promise.all([1, 2].map(() => pressOn(team, USERS.olga, card, 'access_permanent')));
}

/** Some servers, and now and then the identical command once more. */
async function reboot(team: SoakTeam, user: User): Promise<void> {
  const { recorded, slack, dice } = team;
  const labels = [1, 2, 3].slice(0, 1 + dice.number(3)).map((step) => `old-${step * 7 - dice.number(6)}`);
  const screen = await openScreen(team, user);
  recorded.reboots += labels.length;
  const delivery = await screen.types(`/vps reboot ${labels.join(' ')}`);
  if (delivery && dice.chance(0.3)) await slack.redeliver(delivery);
}

const READS = ['', 'list', 'show old-1', 'catalog', 'status', 'help', 'password'] as const;

async function read(team: SoakTeam, user: User): Promise<void> {
  const screen = await openScreen(team, user);
  await screen.types(`/vps ${team.dice.pick(READS)}`.trim());
}

const MANAGER_ACTS = [orderServer, orderServer, orderServer, deleteApproved, read, askForRole] as const;

const LOOK_MS = 25;

/** A user who sees no form for so long types the command again. */
const FORM_MS = 4000;

/** Waits until there is something to see; undefined: there was nothing in time. */
export async function waitFor<Found>(
  look: () => Found | undefined | false,
  patienceMs = 8000,
): Promise<Found | undefined> {
  for (const until = Date.now() + patienceMs; Date.now() < until; await sleep(LOOK_MS)) {
    const found = look();
    if (found) return found;
  }
  return undefined;
}

/** A user at a screen without an open form. */
async function openScreen({ slack }: SoakTeam, user: User): Promise<Persona> {
  const screen = slack.as(user).in('#ops');
  if (screen.modal()) await screen.closes({ all: true });
  return screen;
}

/**
 * Types a command and waits for the form whose button says this. False: the command or the form was lost, as users see it
 * when a process dies.
 */
async function opensForm(screen: Persona, command: string, submit: string): Promise<boolean> {
  const delivery = await screen.types(command);
  if (delivery?.status !== 200) return false;
  return (await waitFor(() => screen.modal()?.submit === submit, FORM_MS)) ?? false;
}

/** What a real client refuses is no act. */
async function tryTo<Result>(act: Promise<Result>): Promise<Result | undefined> {
  try {
    return await act;
  } catch (error) {
    if (error instanceof SlackRefusal) return undefined;
    throw error;
  }
}

/**
 * Submits the open form, twice at once now and then, and again where Slack says "We had some trouble connecting", as users
 * do. Returns the deliveries.
 */
async function submitUntilTaken(
  { dice }: SoakTeam,
  screen: Persona,
  submit: string,
): Promise<readonly Delivery[]> {
  const deliveries: Delivery[] = [];
  for (let tries = 0; tries < 4 && screen.modal()?.submit === submit; tries++) {
    const presses = dice.chance(0.5) ? 2 : 1;
    const pressed = await Promise.all(Array.from({ length: presses }, () => tryTo(screen.submits())));
    deliveries.push(...pressed.filter((one) => one !== undefined));
    if (deliveries.some(({ status }) => status === 200)) break;
    await sleep(300);
  }
  return deliveries;
}

/** Whether any of them was acknowledged with these words. */
function isTakenBy(deliveries: readonly Delivery[], words: RegExp): boolean {
  return deliveries.some(({ status, response }) => status === 200 && words.test(response));
}

/** The newest message in this user's conversation with the app that says so. */
function findCard({ recorded }: SoakTeam, user: User, words: string): Shown | undefined {
  const channel = directChannelOf(user.id);
  return recorded.shown.findLast((one) => one.channel === channel && one.written.includes(words));
}

/** Presses a button of a message, however often; gives how often that was possible. */
async function pressOn({ slack }: SoakTeam, user: User, card: Shown, actionId: string): Promise<boolean> {
  const at = listElements(card.message?.blocks ?? []).find((one) => one.actionId === actionId);
  if (!at) return false;
  const place = { channel: card.channel, ts: card.ts };
  const act = { do: 'action', place, block: at.blockId, action: at.actionId, confirmed: true, value: null };
  const answer = await fetch(`${slack.url}/page/do`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ as: user.id, ...act }),
  });
  await answer.text();
  return answer.ok;
}

/** How often each misfortune struck. */
export type Struck = Map<string, number>;

const FAULTS: readonly FaultRule[] = [
  { on: 'paid', kind: 'lost_after' },
  { on: 'paid', kind: 'lost_before' },
  { on: 'paid', kind: 'hang' },
  { on: 'paid', kind: 'slow', delayMs: 700 },
  { on: 'paid', kind: 'status_500' },
  { on: 'paid', kind: 'status_500_after' },
  { on: 'create', kind: 'checking_completes', afterMs: 2000 },
  { on: 'create', kind: 'checking_refunds', afterMs: 2000 },
  { on: 'create', kind: 'error', code: 'limit' },
  { on: 'delete', kind: 'lost_after' },
  { on: 'delete', kind: 'slow', delayMs: 700 },
  { on: 'servers', kind: 'slow', delayMs: 500 },
  { on: 'servers', kind: 'status_500' },
  { on: 'reboot', kind: 'lost_after' },
];

/** The first process is spared in a long run, so that what it leaks shows. */
function pickMortal({ processes, dice, isLong }: SoakTeam) {
  const places = [...processes.places()].filter(([place]) => !isLong || place > 0);
  return dice.pick(places)?.[1];
}

const MISFORTUNES = {
  breakHosting: async ({ hosting, dice }: SoakTeam) => {
    const rule = dice.pick(FAULTS);
    if (rule) hosting.faults.add(rule);
  },
  killProcess: async (team: SoakTeam) => {
    const app = pickMortal(team);
    if (app) await team.processes.kill(app);
  },
  stopProcess: async (team: SoakTeam) => {
    const app = pickMortal(team);
    if (app) await team.processes.stop(app);
  },
  freezeProcess: async ({ processes, dice }: SoakTeam) => {
    const app = dice.pick(processes.running());
    if (app) await processes.freeze(app, 500 + dice.number(3000));
  },
  /** Longer than any lease: others take its work over while it is still alive. */
  freezeForLong: async ({ processes, dice }: SoakTeam) => {
    const app = dice.pick(processes.running());
    if (app) await processes.freeze(app, 65_000);
  },
  crashPostgres: ({ postgres }: SoakTeam) => postgres.crash(),
  restartPostgres: ({ postgres }: SoakTeam) => postgres.restart(),
};

type Misfortune = keyof typeof MISFORTUNES;

/** In a short run each of them strikes, in this order. */
const SHORT: readonly Misfortune[] = [
  'breakHosting',
  'killProcess',
  'breakHosting',
  'crashPostgres',
  'breakHosting',
  'stopProcess',
  'killProcess',
];

/** A process lives for about two minutes: longer than the slots of the rate limit take to come back from a dead one. */
const LONG: readonly Misfortune[] = [
  ...Array.from({ length: 24 }, () => 'breakHosting' as const),
  ...([
    'killProcess',
    'killProcess',
    'stopProcess',
    'stopProcess',
    'freezeProcess',
    'freezeProcess',
  ] as const),
  ...(['crashPostgres', 'restartPostgres', 'freezeForLong'] as const),
];

const LONG_PAUSE_MS = 3500;

/** Lets misfortunes strike until the time is over. */
export async function strike(
  team: SoakTeam,
  { untilMs, struck }: { readonly untilMs: number; readonly struck: Struck },
): Promise<void> {
  const { dice, isLong } = team;
  const pauseMs = isLong ? LONG_PAUSE_MS : (untilMs - Date.now()) / (SHORT.length + 1);
  const under: Promise<void>[] = [];
  for (let turn = 0; Date.now() < untilMs - pauseMs / 2; turn++) {
    await sleep(isLong ? dice.number(2 * pauseMs) : pauseMs);
    const misfortune = isLong ? dice.pick(LONG) : SHORT[turn];
    if (!misfortune) break;
    struck.set(misfortune, (struck.get(misfortune) ?? 0) + 1);
    const ended = MISFORTUNES[misfortune](team);
    // The rest goes on while a process stops or stands still; one restart of PostgreSQL comes after the other.
    if (misfortune.endsWith('Postgres')) await ended;
    else under.push(ended);
  }
  await Promise.all(under);
  team.hosting.faults.clear();
}
