import { type Approval, type ApprovalAction, labelOfAction } from '../../domain/approval.ts';
import { describeMoney } from '../../domain/money.ts';
import { codeLabel, escapeText, mention, slackDate } from '../kit/text.ts';
import { kindOf } from './action-kind.ts';
import { cancelWords, endWords } from './outcome-words.ts';

const VERBS = {
  create: { present: 'create', past: 'created', ongoing: 'is being created' },
  renew: { present: 'renew', past: 'renewed', ongoing: 'is being renewed' },
  delete: { present: 'delete', past: 'deleted', ongoing: 'is being deleted' },
} as const;

/** "5.90 a month"; undefined where nothing is paid. */
export function priceOf(action: ApprovalAction, currency: string): string | undefined {
  if (action.kind === 'delete') return undefined;
  if (action.price === undefined) return 'not known here';
  return escapeText(
    `${describeMoney(action.price, currency)}${action.purchase.kind === 'create' ? ' a month' : ''}`,
  );
}

/** "@ann wants to *create* `web-1` for *5.90 a month*." */
export function describeWanted({ requesterId, action }: Approval, currency: string): string {
  const price = priceOf(action, currency);
  const isKnown = action.kind === 'purchase' && action.price !== undefined;
  const cost = price === undefined ? '' : isKnown ? ` for *${price}*` : ' (its price is not known here)';
  return `${mention(requesterId)} wants to *${VERBS[kindOf(action)].present}* ${codeLabel(labelOfAction(action))}${cost}.`;
}

/** Its outcome, for the card. */
export function describeDecision(approval: Approval, currency: string): string {
  const { state, action, decidedBy } = approval;
  const by = decidedBy === undefined ? '' : ` by ${mention(decidedBy)}`;
  switch (state) {
    case 'open':
      return `Open until ${slackDate(approval.expiresAt)}.`;
    case 'approved':
    case 'running':
      return `*Approved*${by}. Whoever asked is told how it ends.`;
    case 'denied':
      return `*Denied*${by}. ${nothingDone(action)}`;
    case 'expired':
      return `*Nobody approved it in time.* ${nothingDone(action)}`;
    case 'void':
      return `*Void*: ${cancelWords(approval)}. ${nothingDone(action)}`;
    case 'ended':
      return `*Approved*${by}. ${endWords(approval, currency)}`;
  }
}

/** Its current state, for the requester. */
export function approvalWords(approval: Approval, currency: string): string {
  const { state, action, decidedBy, expiresAt } = approval;
  const label = codeLabel(labelOfAction(action));
  const { past, ongoing } = VERBS[kindOf(action)];
  const by = mention(decidedBy ?? '');
  switch (state) {
    case 'open':
      return `${label} waits for another manager’s approval, until ${slackDate(expiresAt)}. ${untilThen(action)}`;
    case 'approved':
    case 'running':
      return `${by} approved it: ${label} ${ongoing}.`;
    case 'denied':
      return `${by} did not approve it: ${label} is not ${past}. ${nothingDone(action)}`;
    case 'expired':
      return `Nobody approved it in time: ${label} is not ${past}. ${nothingDone(action)}`;
    case 'void':
      return `${label} is not ${past}: ${cancelWords(approval)}. ${nothingDone(action)}`;
    case 'ended':
      return `${by} approved it. ${endWords(approval, currency)}`;
  }
}

/** What the requester reads when no manager could be reached. */
export function unreachedWords({ action, expiresAt }: Approval): string {
  return `${codeLabel(labelOfAction(action))} takes another manager’s approval, and none could be reached by message. Please ask one: until ${slackDate(expiresAt)} they can approve it with \`/vps status\`. ${untilThen(action)}`;
}

/** What the user who decided reads. */
export function answeredWords(approval: Approval): string {
  const { state, action, requesterId } = approval;
  const label = codeLabel(labelOfAction(action));
  const { past, ongoing } = VERBS[kindOf(action)];
  const closing = `${mention(requesterId)} is told.`;
  if (state === 'denied') return `You denied it: ${label} is not ${past}. ${closing}`;
  if (state === 'void')
    return `That could not be approved any more: ${cancelWords(approval)}. ${nothingDone(action)} ${closing}`;
  return `You approved it: ${label} ${ongoing}. ${mention(requesterId)} is told how it ends.`;
}

function untilThen(action: ApprovalAction): string {
  return action.kind === 'delete' ? 'Nothing is deleted before that.' : 'Nothing is paid before that.';
}

function nothingDone(action: ApprovalAction): string {
  return action.kind === 'delete' ? 'Nothing was deleted.' : 'Nothing was ordered and nothing was charged.';
}
