import type { PowerChange } from '../../app/servers/change-power.ts';
import type { PowerAction } from '../../domain/server.ts';
import { isWhereLeads } from '../../domain/server-state.ts';
import { actions, type Message, textMessage } from '../kit/blocks.ts';
import { stateWords } from '../kit/server-state.ts';
import { codeLabel, escapeText, shorten } from '../kit/text.ts';
import { showButton } from './buttons.ts';
import { VERBS } from './verbs.ts';

/** Whether the answer to a power action already reports where the action leads. */
export function isThere(action: PowerAction, { state }: Pick<PowerChange, 'state'>): boolean {
  return state !== undefined && isWhereLeads(action, { state });
}

/** The announcement of a power action that the hosting API has accepted, to follow the user's name. */
export function announcedWords(
  action: PowerAction,
  change: Pick<PowerChange, 'state' | 'words'> & { readonly server: Pick<PowerChange['server'], 'label'> },
): string {
  const label = codeLabel(change.server.label);
  const { past, present } = VERBS[action];
  if (!isThere(action, change)) return `is ${present} ${label}…${quote(change)}`;
  return `${past} ${label}: ${stateWords({ state: change.state ?? '' })}`;
}

/** The same for the user alone, if nothing is announced. */
export function answerWords(action: PowerAction, change: PowerChange): string {
  const label = codeLabel(change.server.label);
  if (change.state === undefined) return `${capital(action)} was accepted for ${label}.${quote(change)}`;
  if (!isThere(action, change)) return `${capital(VERBS[action].present)} ${label}…`;
  return `${label} was ${VERBS[action].past}. It’s ${stateWords({ state: change.state ?? '' })}.`;
}

/** The hosting API's own words, if it answered without a state. */
function quote({ words }: Pick<PowerChange, 'words'>): string {
  return words === undefined ? '' : ` The hosting API says: “${escapeText(shorten(words, 200))}”`;
}

/** For when nothing proves that a power action was carried out. */
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
