import type { ConfirmationDialog } from '@slack/types';
import { type HasState, isTargetState, type PowerAction, type Server } from '../core/server.ts';
import { actions, confirmation, type Message, textMessage } from '../slack/kit/blocks.ts';
import { capital, codeLabel, escapeText, plainLabel, shorten, stateWords } from '../slack/kit/text.ts';
import { VERBS } from '../words.ts';
import { showButton } from './buttons.ts';
import type { PowerChange } from './change-power.ts';

/** Whether the answer to a power action already reports the action's target state. */
export function isAtTarget(action: PowerAction, { state }: Partial<HasState>): boolean {
  return state !== undefined && isTargetState(action, { state });
}

/** Announces an accepted power action, to follow the user's name: "is rebooting `web-1`…". */
export function announcedWords(
  action: PowerAction,
  change: Pick<PowerChange, 'state' | 'words'> & { readonly server: Pick<PowerChange['server'], 'label'> },
): string {
  const label = codeLabel(change.server.label);
  const { past, present } = VERBS[action];
  if (!isAtTarget(action, change)) return `is ${present} ${label}…${quote(change)}`;
  return `${past} ${label}: ${stateWords({ state: change.state ?? '' })}`;
}

/** Reports an accepted power action to the user alone, where nothing is announced. */
export function answerWords(action: PowerAction, change: PowerChange): string {
  const label = codeLabel(change.server.label);
  if (change.state === undefined) return `${capital(action)} was accepted for ${label}.${quote(change)}`;
  if (!isAtTarget(action, change)) return `${capital(VERBS[action].present)} ${label}…`;
  return `${label} was ${VERBS[action].past}. It’s ${stateWords({ state: change.state ?? '' })}.`;
}

/** Quotes the hosting API, if it answered without a state. */
function quote({ words }: { readonly words?: string }): string {
  return words === undefined ? '' : ` The hosting API says: “${escapeText(shorten(words, 200))}”`;
}

/** Says that nothing proves whether a power action was carried out. */
export function unconfirmedMessage(action: PowerAction, { server, state }: PowerChange): Message {
  const seen = state ? ` Right after that, the API reported ${stateWords({ state })}.` : '';
  return textMessage(
    `We’re not sure whether ${codeLabel(server.label)} was ${VERBS[action].past}: the hosting API didn’t confirm it.${seen}`,
    actions(showButton.element('Show server', { id: server.id })),
  );
}

/** Asks before a press that stops or reboots a list of servers; undefined for other commands. */
export function confirmationOfSeveral(
  verb: PowerAction,
  servers: readonly Pick<Server, 'label'>[],
): ConfirmationDialog | undefined {
  const [only, ...others] = servers;
  if (only && others.length === 0) return confirmPower(verb, only);
  if (verb === 'stop')
    return confirmation({
      title: `Stop ${servers.length} servers?`,
      text: 'They go offline immediately. Billing continues.',
      confirm: 'Stop',
      isDangerous: true,
    });
  if (verb !== 'reboot') return undefined;
  return confirmation({
    title: `Reboot ${servers.length} servers?`,
    text: 'They will be offline for a moment.',
    confirm: 'Reboot',
    isDangerous: true,
  });
}

/** Asks before a choice or press that stops or reboots a server, which is easy to touch by accident; undefined otherwise. */
export function confirmationOf(verb: string): ConfirmationDialog | undefined {
  if (verb === 'stop')
    return confirmation({
      title: 'Stop this server?',
      text: 'It goes offline immediately. Billing continues.',
      confirm: 'Stop',
      isDangerous: true,
    });
  if (verb !== 'reboot') return undefined;
  return confirmation({
    title: 'Reboot this server?',
    text: 'It will be offline for a moment.',
    confirm: 'Reboot',
    isDangerous: true,
  });
}

/** Asks before a press that stops or reboots this server, and names it; undefined for start. */
export function confirmPower(
  action: PowerAction,
  { label }: Pick<Server, 'label'>,
): ConfirmationDialog | undefined {
  const { title } = VERBS[action];
  const name = plainLabel(label, 40);
  const question = {
    start: undefined,
    stop: 'It goes offline immediately. Billing continues.',
    reboot: 'It will be offline for a moment.',
  }[action];
  if (question === undefined) return undefined;
  return confirmation({ title: `${title} ${name}?`, text: question, confirm: title, isDangerous: true });
}
