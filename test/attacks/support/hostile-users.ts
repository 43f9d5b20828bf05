import { setTimeout as sleep } from 'node:timers/promises';
import { listElements, optionsOf, type PlacedElement } from '../../../src/sandbox/slack/entered.ts';
import type { Entered } from '../../../src/sandbox/slack/page-api.ts';
import { SlackRefusal } from '../../../src/sandbox/slack/refusal.ts';
import { USERS, type User } from '../../../src/sandbox/slack/workspace.ts';
import { type HostileTeam, LABELS, UNPRIVILEGED } from './hostile-team.ts';

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

export function randomCommand({ dice }: HostileTeam): string {
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
