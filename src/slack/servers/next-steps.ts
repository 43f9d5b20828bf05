import type { Button } from '@slack/types';
import type { HostingCode, RefusalDetails } from '../../domain/errors.ts';
import { HostingError, isRefusal } from '../../domain/errors.ts';
import type { ServerAct } from '../../domain/failed-act.ts';
import type { ServerId } from '../../domain/ids.ts';
import { isWhereLeads } from '../../domain/server-state.ts';
import { plainLabel } from '../kit/text.ts';
import { renewButton } from '../purchases/buttons.ts';
import { deleteButton, powerButton, showButton } from './buttons.ts';
import { confirmationOf } from './confirm-dialogs.ts';
import { checkElement } from './follow-message.ts';
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
    // Not `sure`: of a reboot a moment ago, the user hasn't read yet.
    const text = `${VERBS[action].title} ${plainLabel(server.label, 40)}`;
    return [powerButton[action].element(text, { id: server.id }, { style: 'primary' })];
  }
  if (isRefusal(error, 'rebooted_recently')) return [againButton(error.details.server.id)];
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
    ...(id === undefined ? [] : [checkElement(act, [{ serverId: id, label }], { isFailed: true })]),
  ];
}

/** The server that a power action was proven not to be carried out on, where the same may work a moment later. */
export function findRetriable(error: unknown): { readonly id: ServerId; readonly label: string } | undefined {
  if (!(error instanceof HostingError) || !PASSING.includes(error.code)) return undefined;
  const { failed, state = '' } = error.details;
  if (failed?.serverId === undefined) return undefined;
  // What is stopped can't be rebooted: it has to be started.
  if (failed.act === 'reboot' && isWhereLeads('stop', { state })) return undefined;
  return { id: failed.serverId, label: failed.label };
}

function retryButtons(act: ServerAct, text: string, id: ServerId | undefined, label: string): Button[] {
  if (act === 'delete') return id === undefined ? [] : [deleteButton.element(`${text}…`, { id })];
  return [powerButton[act].element(text, id === undefined ? { typed: label } : { id })];
}

/** The user has read which server it is, and who rebooted it. */
function againButton(id: ServerId): Button {
  return powerButton.reboot.element('Reboot again', { id, sure: true }, { style: 'primary' });
}

/** The user has not named that server: whatever is done to it is asked for again. */
function nearestButton({ nearest, nearestId: id, act }: RefusalDetails['unknown_server']): Button[] {
  if (nearest === undefined || id === undefined) return [];
  const label = plainLabel(nearest, 40);
  const show = showButton.element(`Show ${label}`, { id });
  if (act === undefined) return [show];
  const confirm = confirmationOf(act);
  return [powerButton[act].element(`${VERBS[act].title} ${label}`, { id }, { confirm }), show];
}

function showServer(id: ServerId): Button {
  return showButton.element('Show server', { id });
}
