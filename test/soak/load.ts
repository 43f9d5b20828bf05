import { setTimeout as sleep } from 'node:timers/promises';
import { USERS, type User } from '../../src/sandbox/slack/workspace.ts';
import {
  findCard,
  isTakenBy,
  openScreen,
  opensForm,
  pressOn,
  submitUntilTaken,
  tryTo,
  waitFor,
} from './acts.ts';
import type { SoakTeam } from './soak-team.ts';

type Act = (team: SoakTeam, user: User) => Promise<void>;

/** What users go on doing until the time is over. */
export async function load(
  team: SoakTeam,
  { untilMs, isLong }: { readonly untilMs: number; readonly isLong: boolean },
): Promise<void> {
  // In the long run, about as much as fits into 300 requests a minute.
  const pauseMs = isLong ? 8000 : 300;
  const managers = team.managers.slice(0, -2);
  const pair = team.managers.slice(-2);
  await Promise.all([
    ...managers.map((user) => goOn(team, user, MANAGER_ACTS, untilMs, pauseMs)),
    goOn(team, USERS.otto, OPERATOR_ACTS, untilMs, pauseMs),
    goOn(team, USERS.vera, VIEWER_ACTS, untilMs, pauseMs),
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
  const order = { label, userId: user.id, pressedAtMs: Date.now(), presses: 0, isTaken: false };
  recorded.orders.push(order);
  const deliveries = await submitUntilTaken(team, screen, 'Create and pay');
  order.presses = deliveries.length;
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
  const seen = await Promise.all(screens.map((screen) => opensForm(screen, command, 'Renew and pay')));
  const renewal = {
    serverId: server.id,
    label: server.label,
    userIds: pair.filter((_, at) => seen[at]).map(({ id }) => id),
    pressedAtMs: Date.now(),
    takenFor: new Set<string>(),
  };
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
  const prefix = `gone-${recorded.deletions.length + 1}-${user.name}`;
  const [serverId = 0] = hosting.seedServers(account, 1, prefix);
  const label = `${prefix}-1`;
  const deletion = { serverId, label, requesterId: user.id, isTaken: false, approvals: 0 };
  recorded.deletions.push(deletion);
  // The app's list of servers is good for two seconds.
  await sleep(2100);
  const screen = await openScreen(team, user);
  if (!(await opensForm(screen, `/vps delete ${label}`, 'Delete'))) return;
  await screen.fills({ [`To confirm, type ${label}`]: label });
  const deliveries = await submitUntilTaken(team, screen, 'Delete');
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
  const name = `guest${recorded.roleRequests.length + 1}${manager.name}`;
  const user = slack.admin.addUser({ id: `U0${name.toUpperCase()}`, name });
  const request = { userId: user.id, isTaken: false, answers: 0 };
  recorded.roleRequests.push(request);
  const screen = slack.as(user).in('#ops');
  if (!(await opensForm(screen, '/vps access ask viewer', 'Send request'))) return;
  await screen.fills({ 'Why do you need it?': 'on call' });
  const deliveries = await submitUntilTaken(team, screen, 'Send request');
  request.isTaken = deliveries.some(({ status }) => status === 200);
  const card = await waitFor(() => findCard(team, USERS.olga, `<@${user.id}>`));
  if (!card) return;
  const pressed = await Promise.all([1, 2].map(() => pressOn(team, USERS.olga, card, 'access_permanent')));
  request.answers = pressed.filter(Boolean).length;
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
const OPERATOR_ACTS = [reboot, read] as const;
const VIEWER_ACTS = [read] as const;
