import type { Button, KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import type { CurrencyOf } from '../account/workspaces.ts';
import type { ConfirmationId, ServerId } from '../core/ids.ts';
import { countPaidDays } from '../core/time.ts';
import { createReviewButton, renewButton } from '../purchases/buttons.ts';
import { toKeys } from '../purchases/choices.ts';
import { namesakeWords } from '../purchases/create-form.ts';
import { deleteButton, showButton } from '../servers/buttons.ts';
import { actions, confirmation, context, type Message, section, textMessage } from '../slack/kit/blocks.ts';
import { defineButton } from '../slack/kit/button.ts';
import { defineForm, loadingView, noticeView, type Origin } from '../slack/kit/form.ts';
import { defineModal } from '../slack/kit/modal.ts';
import { codeLabel, codeTyped, count, mention, plainLabel, slackDate } from '../slack/kit/text.ts';
import type { Outbox } from '../slack/outbox.ts';
import type { Confirmer } from '../slack/reply.ts';
import type { SlackRequest } from '../slack/request.ts';
import { type ApprovalAnswer, answerApproval, readApproval } from './answer-approval.ts';
import { withdrawApproval } from './approval.ts';
import {
  answeredWords,
  approvalWords,
  describeDecision,
  describeWanted,
  kindOf,
  priceOf,
  TITLES,
  unreachedWords,
} from './approval-words.ts';
import { createCardNotifier, type NotifierParts } from './card-notifier.ts';
import { type Approval, type ApprovalAction, type DecisionNotifier, labelOfAction } from './decision.ts';

const approvalId = z.object({ id: z.string() });
/** A second person's answers to a request for approval. */
const approvalButton = {
  approve: defineButton('approval_approve', approvalId),
  deny: defineButton('approval_deny', approvalId),
  /** Opens the form in which it is denied with a reason. */
  denyWithReason: defineButton('approval_deny_reason', approvalId),
} as const;
/** The requester withdraws their request. */
const withdrawApprovalButton = defineButton('approval_withdraw', approvalId);

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
interface WaitingApproval {
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
  if (reason === 'no_answer' && serverId !== undefined)
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

const DENY_TITLE = 'Deny with reason';

const denyModal = defineModal(
  'deny_approval',
  approvalId,
  z.object({ reason: z.string().trim().max(300).exactOptional() }),
);

/** The form in which a request is denied, with a reason for the requester. */
export function denyApprovalView(approval: Approval, origin: Origin, currency: string): ModalView {
  return denyModal.view({
    origin,
    metadata: { id: approval.id },
    title: DENY_TITLE,
    submit: 'Deny',
    blocks: [
      section(describeWanted(approval, currency)),
      denyModal.textField('reason', {
        label: 'Reason',
        hint: 'The requester will see this.',
        multiline: true,
        maxLength: 300,
        optional: true,
      }),
    ],
  });
}

const denyForm = defineForm({
  id: 'deny_approval',
  title: DENY_TITLE,
  input: approvalId,
  needs: readApproval,
  load: async (input, request, origin) =>
    denyApprovalView(await request.execute(readApproval, input), origin, request.currency),
});

/** The answers of a second user and the requester's withdrawal, on cards and in `/vps status`. */
export const approvalActions = [
  approvalButton.approve.on(({ id }, request) => answer(id, { kind: 'approve' }, request)),
  approvalButton.deny.on(({ id }, request) => answer(id, { kind: 'deny' }, request)),
  approvalButton.denyWithReason.on((input, request) => denyForm.open(input, request)),
  denyForm.handler,
  withdrawApprovalButton.on(async ({ id }, request) => {
    const withdrawn = await request.execute(withdrawApproval, { id });
    await request.reply.replace(textMessage(approvalWords(withdrawn, request.currency)));
  }),
];

export const approvalModals = [
  denyModal.onSubmit(answerApproval, async ({ fields, metadata, viewId }, request) => ({
    with: loadingView(DENY_TITLE, 'Saving your answer…'),
    after: async () => {
      const answer: ApprovalAnswer = { kind: 'deny', reason: fields.reason };
      const denied = await request.execute(answerApproval, { id: metadata.id, answer });
      await request.views.update(viewId, noticeView(DENY_TITLE, answeredWords(denied)));
    },
  })),
];

const CHECKING = 'Checking that nothing has changed…';

/** Money effect: what is approved is paid or deleted once, however many users press. */
async function answer(id: ConfirmationId, given: ApprovalAnswer, request: SlackRequest): Promise<void> {
  const answering = request.execute(answerApproval, { id, answer: given });
  if ((await request.withTimeout(answering)) === undefined) await request.reply.send(textMessage(CHECKING));
  await request.reply.send(textMessage(answeredWords(await answering)));
}

interface Parts extends NotifierParts {
  readonly currencyOf: CurrencyOf;
}

/** Cards and messages about approvals. */
export function createApprovalNotifier(parts: Parts): DecisionNotifier<Approval> {
  return createCardNotifier<Approval>(parts, {
    card: async (approval) => approvalCard(approval, await parts.currencyOf(approval.workspaceId)),
    notifyRequester: (approval, requester) => notifyRequester(approval, requester, parts),
  });
}

/** The outcome of what was approved is sent when it has ended: a delete here, a purchase by its operation. */
async function notifyRequester(
  approval: Approval,
  requester: Confirmer,
  { outbox, currencyOf }: Parts,
): Promise<boolean> {
  const { workspaceId, action, state } = approval;
  const currency = await currencyOf(workspaceId);
  const isBeingDone = state === 'approved' || state === 'running';
  if (state === 'open') return send(approval, requester, { outbox, currency });
  const view = () => noticeView(TITLES[kindOf(action)], approvalWords(approval, currency));
  await outbox.updateFollowed(requester, view, { isFinal: !isBeingDone });
  // Who withdraws it sees that at once, in the message whose button was pressed.
  if (isBeingDone || state === 'withdrawn') return true;
  const isNotified = await send(approval, requester, { outbox, currency });
  if (isNotified && state === 'ended' && approval.reason.code === 'done')
    await outbox.announce(requester, deletedAnnouncement(approval));
  return isNotified;
}

async function send(
  approval: Approval,
  requester: Confirmer,
  { outbox, currency }: { readonly outbox: Outbox; readonly currency: string },
): Promise<boolean> {
  const message = approvalMessage(approval, currency);
  if (await outbox.replyTo(requester).send(message)) return true;
  return outbox.sendDirectly(approval.workspaceId, approval.requesterId, message);
}
