import type { Button, KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import { quote } from '../access/words.ts';
import type { ConfirmationId, UserId } from '../core/ids.ts';
import { describeMoney } from '../core/money.ts';
import { countPaidDays } from '../core/time.ts';
import { createReviewButton, namesakeWords, renewButton } from '../purchases/catalog.ts';
import { deleteButton } from '../servers/buttons.ts';
import { deleteWords } from '../servers/delete-outcome.ts';
import { actions, confirmation, context, type Message, section, textMessage } from '../slack/kit/blocks.ts';
import { defineButton } from '../slack/kit/button.ts';
import { defineForm, loadingView, noticeView, type Origin } from '../slack/kit/form.ts';
import { defineModal } from '../slack/kit/modal.ts';
import { capital, codeLabel, count, escapeText, mention, plainLabel, slackDate } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import { VERBS } from '../words.ts';
import {
  type ApprovalAnswer,
  answerApproval,
  type RequestedApproval,
  readApproval,
  withdrawApproval,
} from './approval.ts';
import { isOnCard, type RequestScreen } from './notify.ts';
import { type Approval, type ApprovalAction, type CancelCode, labelOfAction, serverIdOf } from './request.ts';

const requestId = z.object({ id: z.string() });
const approveButton = defineButton('approval_approve', requestId);
const denyButton = defineButton('approval_deny', requestId);
const denyWithReasonButton = defineButton('approval_deny_reason', requestId);
const withdrawApprovalButton = defineButton('approval_withdraw', requestId);

/** What a manager sees: who requests what and why, with the answers, later replaced by the outcome. */
export function approvalCard(approval: Approval, currency: string): Message {
  const wanted = describeWanted(approval, currency);
  if (approval.state !== 'open') return textMessage(wanted, section(describeDecision(approval, currency)));
  return textMessage(
    `${wanted}\n${describeFacts(approval)}`,
    actions(...approvalButtons(approval, currency, { style: 'primary' })),
    context(`${whyWords(approval)} Expires ${slackDate(approval.expiresAt)}.`),
  );
}

/** The answers; approving asks for confirmation first and says what it costs. Only on a card of its own is one primary. */
function approvalButtons(
  approval: Approval,
  currency: string,
  style: { readonly style?: 'primary' } = {},
): Button[] {
  const { id } = approval;
  const name = plainLabel(labelOfAction(approval), 50);
  const confirm = confirmation({
    title: `${capital(kindOf(approval))} ${name}?`,
    text: confirmWords(approval, currency),
    confirm: `Approve and ${kindOf(approval)}`,
    isDangerous: approval.kind === 'delete',
  });
  return [
    approveButton.element('Approve', { id }, { ...style, confirm, label: `Approve ${name}` }),
    denyButton.element('Deny', { id }, { label: `Deny ${name}` }),
    denyWithReasonButton.element('Deny with reason…', { id }, { label: `Deny ${name} with a reason` }),
  ];
}

/** What the requester reads: what has become of it, and a button to withdraw it, or to request it again if nothing was done. */
export function approvalMessage(approval: Approval): Message {
  const isOpen = approval.state === 'open';
  const isUnreached = isOpen && approval.cards.length === 0;
  const buttons = isOpen ? [withdrawButton(approval)] : nextButtons(approval);
  const words = isUnreached ? unreachedWords(approval) : approvalWords(approval);
  return textMessage(words, ...(buttons.length > 0 ? [actions(...buttons)] : []));
}

function withdrawButton(approval: Approval): Button {
  const label = `Withdraw the request to ${kindOf(approval)} ${plainLabel(labelOfAction(approval), 40)}`;
  return withdrawApprovalButton.element('Withdraw request', { id: approval.id }, { label });
}

/** Who reads of an open approval: its requester can withdraw it, a decider can answer it. */
export type ApprovalReader = 'requester' | 'decider' | 'other';

/** An open approval, with what its reader may do with it. */
export function waitingBlocks(approval: Approval, reader: ApprovalReader, currency: string): KnownBlock[] {
  const expires = `Expires ${slackDate(approval.expiresAt)}.`;
  const line = section(`${describeWanted(approval, currency, reader === 'requester')} ${expires}`);
  if (reader === 'requester') return [line, actions(withdrawButton(approval))];
  return reader === 'decider' ? [line, actions(...approvalButtons(approval, currency))] : [line];
}

/** What a manager needs to know to decide, in one line. */
function describeFacts(approval: Approval): string {
  if (approval.kind === 'delete') {
    const { serverId, paidUntil, requestedAt } = approval;
    const days = paidUntil === undefined ? undefined : countPaidDays(paidUntil, requestedAt);
    const paid = days === undefined ? 'the rest of the paid month' : count(days, 'paid day');
    return `ID ${serverId} · *Deletes all data and ${paid}*`;
  }
  if (approval.purchase.kind === 'renew') {
    const { serverId, paidUntil } = approval.purchase;
    return `ID ${serverId} · Paid until ${slackDate(paidUntil)}`;
  }
  const { order, namesakeIds = [] } = approval.purchase;
  const { plan, location, image, label } = order;
  const choices = [plan, location, image].map((choice) => codeLabel(choice)).join(' · ');
  return namesakeIds.length > 0 ? `${choices}\n${namesakeWords(namesakeIds.length, label)}` : choices;
}

function whyWords(approval: Approval): string {
  if (approval.isOverBudget) return 'This exceeds this month’s budget for orders from Slack.';
  return {
    create: 'Creating a server at this price needs a second manager’s approval.',
    renew: 'Renewals need a second manager’s approval.',
    delete: 'Deletions need a second manager’s approval.',
  }[kindOf(approval)];
}

function confirmWords(approval: Approval, currency: string): string {
  if (approval.kind === 'delete')
    return 'The server and all its data are deleted immediately. Paid time isn’t refunded.';
  const price = priceOf(approval, currency);
  if (approval.purchase.kind === 'create')
    return `It’s ordered immediately for ${price}. Paid months aren’t refunded.`;
  const cost =
    approval.price === undefined
      ? 'We don’t know the price. Paid months aren’t refunded.'
      : `It costs ${price}. Paid months aren’t refunded.`;
  return `It’s renewed immediately. ${cost}`;
}

/** No button once it is approved: what is done then is told with its own outcome. Otherwise a new request. */
function nextButtons(approval: Approval): Button[] {
  const { state, kind } = approval;
  const reason = 'reason' in approval ? approval.reason : undefined;
  const serverId = serverIdOf(approval);
  if (state === 'approved') return [];
  if (kind === 'purchase' && approval.purchase.kind === 'create')
    return [createReviewButton.element('Request again…', approval.purchase.order)];
  if (serverId === undefined || reason === 'unknown_server') return [];
  const button = kind === 'delete' ? deleteButton : renewButton;
  return [button.element('Request again…', { id: serverId })];
}

const DENY_TITLE = 'Deny with reason';

const denyModal = defineModal(
  'deny_approval',
  requestId,
  z.object({ reason: z.string().trim().max(300).exactOptional() }),
);

export function denyView(approval: Approval, origin: Origin, currency: string): ModalView {
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
  input: requestId,
  needs: readApproval,
  load: async (input, request, origin) =>
    denyView(await request.execute(readApproval, input), origin, request.currency),
});

/** The answers of a second user and the requester's withdrawal, on cards and in `/vps status`. */
export const approvalActions = [
  approveButton.on(({ id }, request) => answer(id, { kind: 'approve' }, request)),
  denyButton.on(({ id }, request) => answer(id, { kind: 'deny' }, request)),
  denyWithReasonButton.on((input, request) => denyForm.open(input, request)),
  denyForm.handler,
  withdrawApprovalButton.on(async ({ id }, request) => {
    const withdrawn = await request.execute(withdrawApproval, { id });
    await request.reply.replace(textMessage(approvalWords(withdrawn)));
  }),
];

export const approvalModals = [
  denyModal.onSubmit(answerApproval, async ({ fields, metadata, viewId }, request) => ({
    with: loadingView(DENY_TITLE, 'Saving your answer…'),
    after: async () => {
      const answered = await request.execute(answerApproval, {
        id: metadata.id,
        answer: { kind: 'deny', ...fields },
      });
      await request.views.update(
        viewId,
        noticeView('Request denied', answeredWords(answered, request.currency)),
      );
    },
  })),
];

const REQUESTED_TITLE = 'Approval requested';

const CHECKING = 'Checking that nothing has changed…';

/** Money effect: what is approved is paid or deleted once, however many users press. */
async function answer(id: ConfirmationId, given: ApprovalAnswer, request: SlackRequest): Promise<void> {
  const answering = request.execute(answerApproval, { id, answer: given });
  const isSlow = (await request.withTimeout(answering)) === undefined;
  if (isSlow) await request.reply.send(textMessage(CHECKING));
  const answered = await answering;
  const isShown =
    isOnCard(answered, request) && (await request.reply.edit(approvalCard(answered, request.currency)));
  if (isSlow || !isShown) await request.reply.send(textMessage(answeredWords(answered, request.currency)));
}

/** What Slack shows of approvals. The outcome of what was approved is sent by its operation. */
export const approvalScreen: RequestScreen<Approval> = {
  card: async (approval, { currency }) => approvalCard(approval, currency),
  notifyRequester: async (approval, requester, { outbox }) => {
    const { state } = approval;
    const isBeingDone = state === 'approved';
    if (state !== 'open') {
      const view = () => noticeView(capital(state), approvalWords(approval));
      await outbox.updateFollowed(requester, view, { isFinal: !isBeingDone });
    }
    // Who withdraws it sees that at once, in the message whose button was pressed.
    if (isBeingDone || state === 'withdrawn') return true;
    return outbox.notifyConfirmer(requester, approvalMessage(approval));
  },
};

export function kindOf(action: ApprovalAction): 'create' | 'renew' | 'delete' {
  return action.kind === 'delete' ? 'delete' : action.purchase.kind;
}

/** "5.90/month"; undefined where nothing is paid. */
function priceOf(action: ApprovalAction, currency: string): string | undefined {
  if (action.kind === 'delete') return undefined;
  if (action.price === undefined) return 'unknown';
  return escapeText(
    `${describeMoney(action.price, currency)}${action.purchase.kind === 'create' ? '/month' : ''}`,
  );
}

/** "@ann wants to *create* `web-1` for *5.90/month*."; to ann herself, "You asked to …" */
function describeWanted(approval: Approval, currency: string, isOwn = false): string {
  const price = priceOf(approval, currency);
  const isKnown = approval.kind === 'purchase' && approval.price !== undefined;
  const cost = price === undefined ? '' : isKnown ? ` for *${price}*` : ' (price unknown)';
  const who = isOwn ? 'You asked' : `${mention(approval.requesterId)} wants`;
  return `${who} to *${kindOf(approval)}* ${codeLabel(labelOfAction(approval))}${cost}.`;
}

export function describeDecision(approval: Approval, currency: string): string {
  const { state, decidedBy, requesterId, deletion } = approval;
  const by = decidedBy === undefined ? '' : ` by ${mention(decidedBy)}`;
  // A purchase's card doesn't say how it ended.
  const isDone = deletion && deletion.state !== 'prepared' && deletion.state !== 'sent';
  const end = isDone ? deleteWords(deletion, currency) : `We’ll tell ${mention(requesterId)} the result.`;
  switch (state) {
    case 'open':
      return `Expires ${slackDate(approval.expiresAt)}.`;
    case 'approved':
      return `*Approved*${by}. ${end}`;
    case 'denied':
      return `*Denied*${by}. ${nothingDone(approval)}${reasonOf(approval)}`;
    case 'withdrawn':
      return `*Withdrawn*${by}. ${nothingDone(approval)}`;
    case 'expired':
      return `*Expired*: not approved in time. ${nothingDone(approval)}`;
    case 'canceled':
      return `*Canceled*: ${cancelWords(approval)}. ${nothingDone(approval)}`;
  }
}

export function approvalWords(approval: Approval): string {
  const { state, decidedBy, expiresAt } = approval;
  const label = codeLabel(labelOfAction(approval));
  const { past, present } = VERBS[kindOf(approval)];
  const by = mention(decidedBy ?? '');
  switch (state) {
    case 'open':
      return `Waiting for another manager to approve ${present} ${label} (until ${slackDate(expiresAt)}). ${unlessApproved(approval)}`;
    case 'approved':
      return `${by} approved: ${label} is being ${past}.`;
    case 'denied':
      return `${by} denied it: ${label} wasn’t ${past}.${nothingCharged(approval)}${reasonOf(approval)}`;
    case 'withdrawn':
      return `You withdrew your request: ${label} wasn’t ${past}.${nothingCharged(approval)}`;
    case 'expired':
      return `${label} wasn’t ${past}: no manager approved it in time.${nothingCharged(approval)}`;
    case 'canceled':
      return isRestored(approval)
        ? `The request to ${kindOf(approval)} ${label} was canceled: ${cancelWords(approval)}. ${MAY_BE_DONE}`
        : `${label} wasn’t ${past}: ${cancelWords(approval)}.${nothingCharged(approval)}`;
  }
}

function unreachedWords(approval: Approval): string {
  const { present } = VERBS[kindOf(approval)];
  return `We couldn’t message any manager about ${present} ${codeLabel(labelOfAction(approval))}. Ask one to approve it with \`/vps status\` before ${slackDate(approval.expiresAt)}. ${unlessApproved(approval)}`;
}

/** What a manager reads who has answered anywhere but on the card. */
export function answeredWords(approval: Approval, currency: string): string {
  return `${describeWanted(approval, currency)} ${describeDecision(approval, currency)}`;
}

function reasonOf({ denialReason }: Approval): string {
  return denialReason === undefined ? '' : `\n${quote(denialReason)}`;
}

function unlessApproved(action: ApprovalAction): string {
  return action.kind === 'delete'
    ? 'Nothing is deleted unless it’s approved.'
    : 'Nothing is charged unless it’s approved.';
}

function nothingDone(approval: Approval): string {
  if (isRestored(approval)) return MAY_BE_DONE;
  return approval.kind === 'delete' ? 'Nothing was deleted.' : 'Nothing was ordered or charged.';
}

const MAY_BE_DONE = 'It may have been carried out, so check `/vps list` before requesting it again.';

/** Whether a restore canceled it: it may have been approved, and carried out, after the backup. */
function isRestored(approval: Approval): boolean {
  return approval.state === 'canceled' && approval.reason === 'restored';
}

/** After words that already say that nothing was deleted or ordered. */
function nothingCharged(action: ApprovalAction): string {
  return action.kind === 'delete' ? '' : ' Nothing was charged.';
}

function cancelWords(approval: Extract<Approval, { state: 'canceled' }>): string {
  return CANCEL_WORDS[approval.reason](approval);
}

const CANCEL_WORDS: Readonly<Record<CancelCode, (approval: Approval) => string>> = {
  role_needed: ({ requesterId }) => `${mention(requesterId)} no longer has permission`,
  account_changed: () => 'the hosting account was reconnected after the request',
  unknown_server: () => 'the server is no longer in the hosting account’s list',
  server_protected: () => 'an owner has protected the server',
  label_differs: () => 'the server’s label has changed since the request',
  // Another order of the month may be unconfirmed, or the list may have lost the date: it isn't known to be renewed.
  already_renewed: (approval) =>
    kindOf(approval) === 'delete'
      ? 'the server’s paid-until date has changed since the request'
      : 'someone else has ordered this renewal, or the server’s paid-until date has changed since the request',
  unknown_choice: (approval) =>
    `the ${kindOf(approval) === 'create' ? 'plan, location or image' : 'plan'} is no longer in the catalog`,
  price_moved: () => 'the price has changed since the request',
  over_budget: () => 'this month’s budget no longer covers it',
  restored: () =>
    'the app’s database was restored from a backup, so we can’t tell whether it was already answered',
};

/** What a form becomes once an approval was requested in it, or when the same was requested before, here or in another form. */
export function requestedView(
  { isNew, approval }: RequestedApproval,
  formId: ConfirmationId,
  userId: UserId,
): ModalView {
  const words = approvalWords(approval);
  if (isNew)
    return noticeView(REQUESTED_TITLE, words, 'You can close this window. We’ll message you the result.');
  const isOthers = approval.requesterId !== userId;
  const first = isOthers
    ? `${mention(approval.requesterId)} has already requested this. If you’re a manager, you can approve it in \`/vps status\`.`
    : approval.id === formId
      ? 'You already confirmed this.'
      : 'You’ve already requested this.';
  return noticeView(REQUESTED_TITLE, first, words);
}
