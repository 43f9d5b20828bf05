import type { Button } from '@slack/types';
import type { HostingCode, HostingError, RefusalDetails, ServerAct } from '../../domain/errors.ts';
import { isRefusal } from '../../domain/errors.ts';
import type { ServerId } from '../../domain/ids.ts';
import type { PowerAction } from '../../domain/server.ts';
import { isWhereLeads } from '../../domain/server-state.ts';
import { plainLabel } from '../kit/text.ts';
import { renewButton } from '../purchases/buttons.ts';
import { deleteButton, powerButton, showButton } from './buttons.ts';
import { VERBS } from './verbs.ts';

/** After these, the same may work a moment later. */
const PASSING: readonly (HostingCode | 'unknown_code')[] = [
  'not_sent',
  'no_answer',
  'unreadable_answer',
  'unknown_code',
  'rate_limited',
  'wrong_state',
];

/** What to do after one of our rules stopped something about a server. */
export function serverSteps(error: unknown): Button[] {
  if (isRefusal(error, 'prefix_only')) {
    const { action, server } = error.details;
    return [againButton(action, server.id, `${VERBS[action].title} ${plainLabel(server.label, 40)}`)];
  }
  if (isRefusal(error, 'rebooted_recently'))
    return [againButton('reboot', error.details.server.id, 'Reboot again')];
  if (isRefusal(error, 'unknown_server')) return nearestButton(error.details);
  return isRefusal(error, 'server_protected') ? [showServer(error.details.server.id)] : [];
}

/** What to do after an action that was not carried out. */
export function failedSteps({ code, details: { failed, state = '' } }: HostingError): Button[] {
  if (!failed) return [];
  const { act, label, serverId: id, isPaidTimeOver } = failed;
  if (code === 'not_found') return [];
  const isOff = act === 'reboot' && isWhereLeads('stop', { state });
  return [
    ...(PASSING.includes(code)
      ? retryButtons(isOff ? 'start' : act, isOff ? 'Start' : 'Try again', id, label)
      : []),
    ...(isPaidTimeOver && id !== undefined ? [renewButton.element('Renew…', { id })] : []),
    ...(id === undefined ? [] : [showServer(id)]),
  ];
}

function retryButtons(act: ServerAct, text: string, id: ServerId | undefined, label: string): Button[] {
  if (act === 'delete') return id === undefined ? [] : [deleteButton.element(`${text}…`, { id })];
  return [powerButton[act].element(text, id === undefined ? { typed: label } : { id })];
}

/** The user has read which server it is, and what happened to it. */
function againButton(action: PowerAction, id: ServerId, text: string): Button {
  return powerButton[action].element(text, { id, sure: true }, { style: 'primary' });
}

/** Whatever was to be done, it only shows the server: the user has not named it. */
function nearestButton({ nearest, nearestId: id }: RefusalDetails['unknown_server']): Button[] {
  if (nearest === undefined || id === undefined) return [];
  return [showButton.element(`Show ${plainLabel(nearest, 40)}`, { id })];
}

function showServer(id: ServerId): Button {
  return showButton.element('Show server', { id });
}
