import { type Approval, type ApprovalAction, labelOfAction } from '../../domain/approval.ts';
import { describeMoney } from '../../domain/money.ts';
import { codeLabel, escapeText, mention, slackDate } from '../kit/text.ts';
import { wordsOfCode } from '../words.ts';

const VERBS = {
  create: { present: 'create', past: 'created', ongoing: 'is being created' },
  renew: { present: 'renew', past: 'renewed', ongoing: 'is being renewed' },
  delete: { present: 'delete', past: 'deleted', ongoing: 'is being deleted' },
} as const;

/** What is asked for, as one of the three things that can take a second person. */
export function kindOf(action: ApprovalAction): keyof typeof VERBS {
  return action.kind === 'delete' ? 'delete' : action.purchase.kind;
}

/** "5.90 a month"; undefined where nothing is paid. */
export function priceOf(action: ApprovalAction, currency: string): string | undefined {
  if (action.kind === 'delete') return undefined;
  if (action.price === undefined) return 'not known here';
  return escapeText(
    `${describeMoney(action.price, currency)}${action.purchase.kind === 'create' ? ' a month' : ''}`,
  );
}

/** "@ann wants to *create* `web-1` for *5.90 a month*." */
export function describeWish({ requesterId, action }: Approval, currency: string): string {
  const price = priceOf(action, currency);
  const isKnown = action.kind === 'purchase' && action.price !== undefined;
  const cost = price === undefined ? '' : isKnown ? ` for *${price}*` : ' (its price is not known here)';
  return `${mention(requesterId)} wants to *${VERBS[kindOf(action)].present}* ${codeLabel(labelOfAction(action))}${cost}.`;
}

/** What became of it, for the card. */
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
      return `*Void*: ${voidWords(approval)}. ${nothingDone(action)}`;
    case 'ended':
      return `*Approved*${by}. ${endWords(approval, currency)}`;
  }
}

/** How it stands, for the one who asked. */
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
      return `${label} is not ${past}: ${voidWords(approval)}. ${nothingDone(action)}`;
    case 'ended':
      return `${by} approved it. ${endWords(approval, currency)}`;
  }
}

/** What the one who asked hears when there is nobody to ask. */
export function unreachedWords({ action, expiresAt }: Approval): string {
  return `${codeLabel(labelOfAction(action))} takes another manager’s approval, and none could be reached by message. Please ask one: until ${slackDate(expiresAt)} they can approve it with \`/vps status\`. ${untilThen(action)}`;
}

/** What the one who answered hears. */
export function answeredWords(approval: Approval): string {
  const { state, action, requesterId } = approval;
  const label = codeLabel(labelOfAction(action));
  const { past, ongoing } = VERBS[kindOf(action)];
  const told = `${mention(requesterId)} is told.`;
  if (state === 'denied') return `You denied it: ${label} is not ${past}. ${told}`;
  if (state === 'void')
    return `That could not be approved any more: ${voidWords(approval)}. ${nothingDone(action)} ${told}`;
  return `You approved it: ${label} ${ongoing}. ${mention(requesterId)} is told how it ends.`;
}

function untilThen(action: ApprovalAction): string {
  return action.kind === 'delete' ? 'Nothing is deleted before that.' : 'Nothing is paid before that.';
}

function nothingDone(action: ApprovalAction): string {
  return action.kind === 'delete' ? 'Nothing was deleted.' : 'Nothing was ordered and nothing was charged.';
}

const VOID_WORDS: Readonly<Record<string, string>> = {
  price_moved: 'its price has changed since it was asked for',
  unknown_server: 'the server is not there any more',
  account_changed: 'the hosting account was connected anew since it was asked for, and may be another one',
  label_differs: 'the server has another label now',
  already_renewed: 'the server has been renewed since it was asked for',
  over_budget: 'the budget of this month does not hold it any more',
  stale_confirmation: 'the app was away for too long after it was approved',
};

function voidWords({ reason = '', requesterId, action }: Approval): string {
  if (reason === 'unknown_choice')
    return `its ${kindOf(action) === 'create' ? 'plan, location or image' : 'plan'} is not in the catalog any more`;
  if (reason === 'role_needed') return `${mention(requesterId)} may not do that any more`;
  return VOID_WORDS[reason] ?? 'what it was about has changed';
}

/** How an approved delete went; a purchase is told by the ledger. */
function endWords({ action, reason = 'defect' }: Approval, currency: string): string {
  const label = codeLabel(labelOfAction(action));
  if (reason === 'done') return `${label} was deleted.`;
  if (reason === 'no_answer')
    return `We don’t know whether ${label} was deleted: the hosting API’s answer did not arrive.`;
  if (reason === 'lost_account')
    return `We don’t know whether ${label} was deleted: the hosting API’s answer did not arrive, and the hosting account was connected anew since. Please look at the page of the account that was connected before.`;
  const why = reason === 'defect' ? 'something unexpected happened.' : wordsOfCode(reason, {}, currency);
  return `${label} was not deleted: ${why}`;
}
