import type { PowerChange } from '../../app/servers/change-power.ts';
import type { Watched } from '../../app/servers/watch-server.ts';
import type { PowerAction } from '../../domain/server.ts';
import { isWhereLeads } from '../../domain/server-state.ts';
import { actions, type Message, textMessage } from '../kit/blocks.ts';
import { stateWords } from '../kit/server-state.ts';
import { codeLabel } from '../kit/text.ts';
import { showButton } from './buttons.ts';
import { VERBS } from './verbs.ts';

/** Whether the answer to a power action already reports where the action leads. */
export function isThere(action: PowerAction, { state }: PowerChange): boolean {
  return state !== undefined && isWhereLeads(action, { state });
}

/** What the channel is told when the hosting API has accepted a power action, after the user's name. */
export function announcedWords(action: PowerAction, change: PowerChange): string {
  const label = codeLabel(change.server.label);
  const { past, present } = VERBS[action];
  if (!isThere(action, change)) return `is ${present} ${label}…`;
  return `${past} ${label}: ${stateWords({ state: change.state ?? '' })}`;
}

/** What the channel is told in its place when the server was watched. */
export function watchedWords(action: PowerAction, { server }: PowerChange, watched: Watched): string {
  const label = codeLabel(server.label);
  if (watched.isThere) return `${VERBS[action].past} ${label}: ${seenWords(watched)}`;
  return `is ${VERBS[action].present} ${label}. ${notYetWords(watched, 'it')}`;
}

/** The same for the user alone, where the channel is told nothing. */
export function answerWords(action: PowerAction, change: PowerChange): string {
  const label = codeLabel(change.server.label);
  if (!isThere(action, change)) return `${capital(VERBS[action].present)} ${label}…`;
  return `${label} was ${VERBS[action].past}. It’s ${stateWords({ state: change.state ?? '' })}.`;
}

export function watchedAnswer(change: PowerChange, watched: Watched): string {
  const label = codeLabel(change.server.label);
  if (watched.isThere) return `${label} is ${seenWords(watched)}.`;
  return notYetWords(watched, label);
}

function seenWords({ server, ms }: Watched): string {
  return `${stateWords({ state: server?.state ?? '' })} (the API reports it, ${secondsOf(ms)} s)`;
}

function secondsOf(ms: number): number {
  return Math.max(1, Math.round(ms / 1000));
}

/** `name`: "it" where the sentence before has named the server. */
function notYetWords({ server, ms }: Watched, name: string): string {
  const its = name === 'it' ? 'its state' : `the state of ${name}`;
  if (!server) return `The hosting API hasn’t reported ${its} since. Check again in a moment.`;
  return `After ${secondsOf(ms)} s, the API still reports ${name} as ${stateWords(server)}.`;
}

/** What the user is told when nothing proves that a power action was carried out. */
export function unconfirmedMessage(action: PowerAction, { server, state }: PowerChange): Message {
  const seen = state ? ` Right after that, the API reported ${stateWords({ state })}.` : '';
  return textMessage(
    `We’re not sure whether ${codeLabel(server.label)} was ${VERBS[action].past}: the hosting API didn’t confirm it.${seen}`,
    actions(showButton.element('Show server', { id: server.id })),
  );
}

function capital(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}
