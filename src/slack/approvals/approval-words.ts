import { type Approval, type ApprovalAction, labelOfAction } from '../../domain/approval.ts';
import { describeMoney } from '../../domain/money.ts';
import { codeLabel, escapeText, mention, shorten, slackDate } from '../kit/text.ts';
import { kindOf } from './action-kind.ts';
import { cancelWords, endWords } from './outcome-words.ts';

const VERBS = {
  create: { present: 'create', gerund: 'creating', past: 'created', ongoing: 'is being created' },
  renew: { present: 'renew', gerund: 'renewing', past: 'renewed', ongoing: 'is being renewed' },
  delete: { present: 'delete', gerund: 'deleting', past: 'deleted', ongoing: 'is being deleted' },
} as const;

/** "5.90/month"; undefined where nothing is paid. */
export function priceOf(action: ApprovalAction, currency: string): string | undefined {
  if (action.kind === 'delete') return undefined;
  if (action.price === undefined) return 'unknown';
  return escapeText(
    `${describeMoney(action.price, currency)}${action.purchase.kind === 'create' ? '/month' : ''}`,
  );
}

/** "@ann wants to *create* `web-1` for *5.90/month*."; to ann herself, "You want to …" */
export function describeWanted(
  { requesterId, action }: Approval,
  currency: string,
  { isOwn = false }: { readonly isOwn?: boolean } = {},
): string {
  const price = priceOf(action, currency);
  const isKnown = action.kind === 'purchase' && action.price !== undefined;
  const cost = price === undefined ? '' : isKnown ? ` for *${price}*` : ' (price unknown)';
  const who = isOwn ? 'You want' : `${mention(requesterId)} wants`;
  return `${who} to *${VERBS[kindOf(action)].present}* ${codeLabel(labelOfAction(action))}${cost}.`;
}

/** Its outcome, for the card. */
export function describeDecision(approval: Approval, currency: string): string {
  const { state, action, decidedBy, requesterId } = approval;
  const by = decidedBy === undefined ? '' : ` by ${mention(decidedBy)}`;
  switch (state) {
    case 'open':
      return `Expires ${slackDate(approval.expiresAt)}.`;
    case 'approved':
    case 'running':
      return `*Approved*${by}. We’ll tell ${mention(requesterId)} the result.`;
    case 'denied':
      return `*Denied*${by}. ${nothingDone(action)}${reasonOf(approval)}`;
    case 'withdrawn':
      return `*Withdrawn*${by}. ${nothingDone(action)}`;
    case 'expired':
      return `*Expired*: not approved in time. ${nothingDone(action)}`;
    case 'canceled':
      return `*Canceled*: ${cancelWords(approval)}. ${nothingDone(action)}`;
    case 'ended':
      return `*Approved*${by}. ${endWords(approval, currency)}`;
  }
}

/** Its current state, for the requester. */
export function approvalWords(approval: Approval, currency: string): string {
  const { state, action, decidedBy, expiresAt } = approval;
  const label = codeLabel(labelOfAction(action));
  const { gerund, past, ongoing } = VERBS[kindOf(action)];
  const by = mention(decidedBy ?? '');
  switch (state) {
    case 'open':
      return `Waiting for another manager to approve ${gerund} ${label} (until ${slackDate(expiresAt)}). ${untilThen(action)}`;
    case 'approved':
    case 'running':
      return `${by} approved: ${label} ${ongoing}.`;
    case 'denied':
      return `${by} declined: ${label} was not ${past}.${nothingCharged(action)}${reasonOf(approval)}`;
    case 'withdrawn':
      return `You withdrew your request: ${label} was not ${past}.${nothingCharged(action)}`;
    case 'expired':
      return `No manager approved ${gerund} ${label} in time, so it was not ${past}.${nothingCharged(action)}`;
    case 'canceled':
      return `${label} was not ${past}: ${cancelWords(approval)}.${nothingCharged(action)}`;
    case 'ended':
      return `${by} approved. ${endWords(approval, currency)}`;
  }
}

/** What the requester reads when no manager could be reached. */
export function unreachedWords({ action, expiresAt }: Approval): string {
  const { gerund } = VERBS[kindOf(action)];
  return `We couldn’t message a manager about ${gerund} ${codeLabel(labelOfAction(action))}. Ask one to approve it with \`/vps status\` before ${slackDate(expiresAt)}. ${untilThen(action)}`;
}

/** What the user who decided reads. */
export function answeredWords(approval: Approval): string {
  const { state, action, requesterId } = approval;
  const label = codeLabel(labelOfAction(action));
  const { past } = VERBS[kindOf(action)];
  const requester = mention(requesterId);
  if (state === 'denied') return `Denied: ${label} was not ${past}. We’ll tell ${requester}.`;
  if (state === 'canceled')
    return `Canceled: ${cancelWords(approval)}. ${nothingDone(action)} We’ll tell ${requester}.`;
  return `Approved. We’ll tell ${requester} the result.`;
}

function reasonOf({ denialReason }: Approval): string {
  if (denialReason === undefined) return '';
  return `\n> ${escapeText(shorten(denialReason, 300)).replaceAll('\n', '\n> ')}`;
}

function untilThen(action: ApprovalAction): string {
  return action.kind === 'delete' ? 'Nothing is deleted until then.' : 'Nothing is charged until then.';
}

function nothingDone(action: ApprovalAction): string {
  return action.kind === 'delete' ? 'Nothing was deleted.' : 'Nothing was ordered or charged.';
}

/** After words that say already that a server was not deleted, or not ordered. */
function nothingCharged(action: ApprovalAction): string {
  return action.kind === 'delete' ? '' : ' Nothing was charged.';
}
