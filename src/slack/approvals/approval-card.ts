import type { Button, KnownBlock } from '@slack/types';
import { type Approval, type ApprovalAction, labelOfAction } from '../../domain/approval.ts';
import type { ServerId } from '../../domain/ids.ts';
import { countPaidDays } from '../../domain/time.ts';
import { actions, confirmation, context, type Message, section, textMessage } from '../kit/blocks.ts';
import { codeLabel, codeTyped, count, mention, plainLabel, slackDate } from '../kit/text.ts';
import { createReviewButton, renewButton } from '../purchases/buttons.ts';
import { toKeys } from '../purchases/choice-options.ts';
import { namesakeWords } from '../purchases/create-review.ts';
import { deleteButton, showButton } from '../servers/buttons.ts';
import { kindOf } from './action-kind.ts';
import {
  approvalWords,
  describeDecision,
  describeWanted,
  priceOf,
  unreachedWords,
} from './approval-words.ts';
import { approvalButton, withdrawApprovalButton } from './buttons.ts';

/** What a manager sees: who requests what and why, with the answers, later replaced by the outcome. */
export function approvalCard(approval: Approval, currency: string): Message {
  const wanted = describeWanted(approval, currency);
  if (approval.state !== 'open') return textMessage(wanted, section(describeDecision(approval, currency)));
  return textMessage(
    `${wanted}\n${describeFacts(approval)}`,
    actions(...approvalButtons(approval, currency)),
    context(`${whyWords(approval)} Expires ${slackDate(approval.expiresAt)}.`),
  );
}

/** The answers; approving asks for confirmation first and says what it costs. */
function approvalButtons(approval: Approval, currency: string): Button[] {
  const { id, action } = approval;
  const name = plainLabel(labelOfAction(action), 50);
  const { approve, deny, denyWithReason } = approvalButton;
  const confirm = confirmation({
    title: 'Approve this request?',
    text: confirmWords(approval, currency),
    confirm: 'Approve',
    isDangerous: action.kind === 'delete',
  });
  return [
    approve.element('Approve', { id }, { style: 'primary', confirm, label: `Approve ${name}` }),
    deny.element('Deny', { id }, { label: `Deny ${name}` }),
    denyWithReason.element('Deny with reason…', { id }, { label: `Deny ${name} with a reason` }),
  ];
}

/** What the requester reads: how it stands, and a button to withdraw it, or to request it again if nothing was done. */
export function approvalMessage(approval: Approval, currency: string): Message {
  if (approval.state === 'open') {
    const isReached = approval.cards.length > 0;
    const words = isReached ? approvalWords(approval, currency) : unreachedWords(approval);
    return textMessage(words, actions(withdrawButton(approval)));
  }
  const buttons = nextButtons(approval);
  const words = approvalWords(approval, currency);
  return textMessage(words, ...(buttons.length > 0 ? [actions(...buttons)] : []));
}

function withdrawButton({ id, action }: Approval): Button {
  const label = `Withdraw the request to ${kindOf(action)} ${plainLabel(labelOfAction(action), 40)}`;
  return withdrawApprovalButton.element('Withdraw request', { id }, { label });
}

/** The announcement of an approved delete in the channel. */
export function deletedAnnouncement({ requesterId, decidedBy, action }: Approval): Message {
  const by = decidedBy === undefined ? '' : `, approved by ${mention(decidedBy)}`;
  return textMessage(`${mention(requesterId)} deleted ${codeLabel(labelOfAction(action))}${by}`);
}

/** An open approval, and what the reader may do with it. */
export interface WaitingApproval {
  readonly approval: Approval;
  readonly canAnswer: boolean;
  readonly isOwn: boolean;
}

/** One of several open approvals, in a list. */
export function waitingBlocks(
  { approval, canAnswer, isOwn }: WaitingApproval,
  currency: string,
): KnownBlock[] {
  const expires = `Expires ${slackDate(approval.expiresAt)}.`;
  const line = section(`${describeWanted(approval, currency, { isOwn })} ${expires}`);
  if (isOwn) return [line, actions(withdrawButton(approval))];
  return canAnswer ? [line, actions(...approvalButtons(approval, currency))] : [line];
}

/** What a manager needs to know to decide, in one line. */
function describeFacts({ action, requestedAt }: Approval): string {
  if (action.kind === 'delete') {
    const { serverId, paidUntil } = action;
    const days = paidUntil === undefined ? undefined : countPaidDays(paidUntil, requestedAt);
    const paid = days === undefined ? 'the rest of the paid month' : count(days, 'paid day');
    return `ID ${serverId} · Will be lost: *${paid} and all data*`;
  }
  if (action.purchase.kind === 'renew') {
    const { serverId, paidUntil } = action.purchase;
    return `ID ${serverId} · Paid until ${slackDate(paidUntil)}`;
  }
  const { order, namesakeIds = [] } = action.purchase;
  const { plan, location, image, label } = order;
  const choices = [plan, location, image].map(codeTyped).join(' · ');
  return namesakeIds.length > 0 ? `${choices}\n${namesakeWords(namesakeIds.length, label)}` : choices;
}

function whyWords({ isOverBudget, action }: Approval): string {
  if (isOverBudget) return 'This exceeds this month’s budget for orders made with this app.';
  return {
    create: 'Creating a server at this price needs a second person’s approval.',
    renew: 'Renewals need a second person’s approval.',
    delete: 'Deletions need a second person’s approval.',
  }[kindOf(action)];
}

function confirmWords({ action }: Approval, currency: string): string {
  const label = plainLabel(labelOfAction(action), 30);
  if (action.kind === 'delete')
    return `${label} and all its data will be deleted immediately. Paid time isn’t refunded.`;
  const price = priceOf(action, currency);
  if (action.purchase.kind === 'create')
    return `${label} will be created immediately for ${price}. This isn’t refunded.`;
  const cost =
    action.price === undefined
      ? 'We don’t know the price. Paid months aren’t refunded.'
      : `It costs ${price} and isn’t refunded.`;
  return `${label} will be renewed immediately. ${cost}`;
}

/** No button if it is done or in progress; a look at the server if the outcome is unknown; otherwise a new request. */
function nextButtons(approval: Approval): Button[] {
  const { state, action } = approval;
  const reason = 'reason' in approval ? approval.reason.code : undefined;
  const serverId = serverIdOf(action);
  if (state === 'approved' || state === 'running' || reason === 'done' || reason === 'lost_account')
    return [];
  if ((reason === 'no_answer' || (state === 'ended' && reason === 'unreadable')) && serverId !== undefined)
    return [showButton.element('Check again', { id: serverId })];
  if (action.kind === 'purchase' && action.purchase.kind === 'create')
    return [createReviewButton.element('Request again…', toKeys(action.purchase.order))];
  if (serverId === undefined || reason === 'unknown_server' || reason === 'not_found') return [];
  const button = action.kind === 'delete' ? deleteButton : renewButton;
  return [button.element('Request again…', { id: serverId })];
}

function serverIdOf(action: ApprovalAction): ServerId | undefined {
  if (action.kind === 'delete') return action.serverId;
  return action.purchase.kind === 'renew' ? action.purchase.serverId : undefined;
}
