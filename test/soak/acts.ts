import { setTimeout as sleep } from 'node:timers/promises';
import type { Delivery } from '../../src/sandbox/slack/deliver.ts';
import { listElements } from '../../src/sandbox/slack/entered.ts';
import { SlackRefusal } from '../../src/sandbox/slack/refusal.ts';
import type { User } from '../../src/sandbox/slack/workspace.ts';
import type { Shown } from '../support/records.ts';
import type { Persona } from '../support/slack/persona.ts';
import { directChannelOf } from './record.ts';
import type { SoakTeam } from './soak-team.ts';

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
export async function openScreen({ slack }: SoakTeam, user: User): Promise<Persona> {
  const screen = slack.as(user).in('#ops');
  if (screen.modal()) await screen.closes({ all: true });
  return screen;
}

/**
 * Types a command and waits for the form whose button says this. False: the command or the form was lost, as users see it
 * when a process dies.
 */
export async function opensForm(screen: Persona, command: string, submit: string): Promise<boolean> {
  const delivery = await screen.types(command);
  if (delivery?.status !== 200) return false;
  return (await waitFor(() => screen.modal()?.submit === submit, FORM_MS)) ?? false;
}

/** What a real client refuses is no act. */
export async function tryTo<Result>(act: Promise<Result>): Promise<Result | undefined> {
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
export async function submitUntilTaken(
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
export function isTakenBy(deliveries: readonly Delivery[], words: RegExp): boolean {
  return deliveries.some(({ status, response }) => status === 200 && words.test(response));
}

/** The newest message in this user's conversation with the app that says so. */
export function findCard({ recorded }: SoakTeam, user: User, words: string): Shown | undefined {
  const channel = directChannelOf(user.id);
  return recorded.shown.findLast((one) => one.channel === channel && one.written.includes(words));
}

/** Presses a button of a message, however often; gives how often that was possible. */
export async function pressOn(
  { slack }: SoakTeam,
  user: User,
  card: Shown,
  actionId: string,
): Promise<boolean> {
  const at = listElements(card.message?.blocks ?? []).find((one) => one.actionId === actionId);
  if (!at) return false;
  const place = { channel: card.channel, ts: card.ts };
  const act = {
    as: user.id,
    do: 'action',
    place,
    block: at.blockId,
    action: at.actionId,
    confirmed: true,
    value: null,
  };
  const answer = await fetch(`${slack.url}/page/do`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(act),
  });
  await answer.text();
  return answer.ok;
}
