import type { Button, KnownBlock } from '@slack/types';
import { type Approval, type ApprovalAction, labelOfAction } from '../../domain/approval.ts';
import type { ServerId } from '../../domain/ids.ts';
import { countPaidDays } from '../../domain/time.ts';
import { actions, confirmation, context, facts, type Message, section, textMessage } from '../kit/blocks.ts';
import { codeLabel, codeTyped, count, mention, plainLabel, slackDate } from '../kit/text.ts';
import { createReviewButton, renewButton } from '../purchases/buttons.ts';
import { toKeys } from '../purchases/choice-options.ts';
import { deleteButton, showButton } from '../servers/buttons.ts';
import { kindOf } from './action-kind.ts';
import {
  approvalWords,
  describeDecision,
  describeWanted,
  priceOf,
  unreachedWords,
} from './approval-words.ts';
import { approvalButton } from './buttons.ts';

/** What a manager sees: who requests what and why, with the answers, later replaced by the outcome. */
export function approvalCard(approval: Approval, currency: string): Message {
  const wanted = describeWanted(approval, currency);
  if (approval.state !== 'open') return textMessage(wanted, section(describeDecision(approval, currency)));
  const { expiresAt } = approval;
  return textMessage(
    wanted,
    facts(factsOf(approval, currency)),
    actions(...approvalButtons(approval, currency)),
    context(`${whyWords(approval)} It can be approved until ${slackDate(expiresAt)}; after that it is void.`),
  );
}

/** The two answers; approving asks for confirmation first and says what it costs. */
export function approvalButtons(approval: Approval, currency: string): Button[] {
  const { id: approvalId, action } = approval;
  const name = plainLabel(labelOfAction(action), 50);
  const confirm = confirmation({
    title: 'Approve it?',
    text: confirmWords(approval, currency),
    confirm: 'Approve',
    isDangerous: action.kind === 'delete',
  });
  return [
    approvalButton.approve.element(
      'Approve',
      { approvalId },
      { style: 'primary', confirm, label: `Approve ${name}` },
    ),
    approvalButton.deny.element('Deny', { approvalId }, { label: `Deny ${name}` }),
  ];
}

/** What the requester reads: how it ended, and a button to request it again if nothing was done. */
export function approvalMessage(approval: Approval, currency: string): Message {
  if (approval.state === 'open') return textMessage(unreachedWords(approval));
  const buttons = nextButtons(approval);
  const words = approvalWords(approval, currency);
  return textMessage(words, ...(buttons.length > 0 ? [actions(...buttons)] : []));
}

/** The announcement of an approved delete in the channel. */
export function deletedAnnouncement({ requesterId, decidedBy, action }: Approval): Message {
  const by = decidedBy === undefined ? '' : `, approved by ${mention(decidedBy)}`;
  return textMessage(`${mention(requesterId)} deleted ${codeLabel(labelOfAction(action))}${by}`);
}

/** One of several open approvals, in a list. */
export function waitingBlocks(approval: Approval, canAnswer: boolean, currency: string): KnownBlock[] {
  const until = `Until ${slackDate(approval.expiresAt)}.`;
  const line = section(`${describeWanted(approval, currency)} ${until}`);
  return canAnswer ? [line, actions(...approvalButtons(approval, currency))] : [line];
}

function factsOf({ action, requestedAt }: Approval, currency: string): [string, string][] {
  const label: [string, string] = ['Label', codeLabel(labelOfAction(action))];
  if (action.kind === 'delete') {
    const { paidUntil } = action;
    const days = paidUntil === undefined ? undefined : countPaidDays(paidUntil, requestedAt);
    const paid = days === undefined ? 'what is left of its paid month' : count(days, 'paid day');
    return [label, ['Id', String(action.serverId)], ['Lost', `${paid}, and everything on it`]];
  }
  const price: [string, string] = ['Price', priceOf(action, currency) ?? ''];
  if (action.purchase.kind === 'renew') {
    const { serverId, paidUntil } = action.purchase;
    return [label, ['Id', String(serverId)], ['Paid until', slackDate(paidUntil)], price];
  }
  const { plan, location, image } = action.purchase.order;
  return [
    label,
    ['Plan', codeTyped(plan)],
    ['Location', codeTyped(location)],
    ['Image', codeTyped(image)],
    price,
  ];
}

function whyWords({ isOverBudget, action }: Approval): string {
  if (isOverBudget) return 'It goes over the budget of this month, which counts what was paid with this app.';
  const what = { create: 'a create of this price', renew: 'a renewal', delete: 'a delete' }[kindOf(action)];
  return `In this workspace ${what} takes a second person.`;
}

function confirmWords({ action }: Approval, currency: string): string {
  const label = plainLabel(labelOfAction(action), 30);
  if (action.kind === 'delete') return `${label} is deleted at once. What is paid of it is not refunded.`;
  const price = priceOf(action, currency);
  if (action.purchase.kind === 'create')
    return `${label} is created at once, for ${price}. It is not refunded.`;
  const cost = action.price === undefined ? 'Its price is not known here' : `It costs ${price}`;
  return `${label} is renewed at once. ${cost}, and is not refunded.`;
}

/** No button if it is done or in progress; a look at the server if the outcome is unknown; otherwise a new request. */
function nextButtons(approval: Approval): Button[] {
  const { state, action } = approval;
  const reason = 'reason' in approval ? approval.reason.code : undefined;
  const serverId = serverIdOf(action);
  if (state === 'approved' || state === 'running' || reason === 'done' || reason === 'lost_account')
    return [];
  if ((reason === 'no_answer' || (state === 'ended' && reason === 'unreadable')) && serverId !== undefined)
    return [showButton.element('Look again', { id: serverId })];
  if (action.kind === 'purchase' && action.purchase.kind === 'create')
    return [createReviewButton.element('Request again…', toKeys(action.purchase.order))];
  if (serverId === undefined || reason === 'unknown_server' || reason === 'not_found') return [];
  const button = action.kind === 'delete' ? deleteButton : renewButton;
  return [button.element('Ask again…', { id: serverId })];
}

function serverIdOf(action: ApprovalAction): ServerId | undefined {
  if (action.kind === 'delete') return action.serverId;
  return action.purchase.kind === 'renew' ? action.purchase.serverId : undefined;
}
