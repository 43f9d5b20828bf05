import {
  describeReason,
  type HostingCode,
  type NoDetails,
  type ReasonWords,
  type RefusalCode,
  type RefusalDetails,
} from '../core/errors.ts';
import type { ConfirmationId } from '../core/ids.ts';
import { describeMoney } from '../core/money.ts';
import { codeLabel, escapeText, mention, shorten, slackDate } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import { failedWords, wordsOfRefusal } from '../words.ts';
import {
  type Approval,
  type ApprovalAction,
  type CancelDetails,
  type DeleteEndDetails,
  labelOfAction,
} from './decision.ts';

/** What is requested, as one of the three things that may have to be approved. */
export function kindOf(action: ApprovalAction): 'create' | 'renew' | 'delete' {
  return action.kind === 'delete' ? 'delete' : action.purchase.kind;
}

/** The titles of the forms in which they are confirmed. */
export const TITLES = {
  create: 'Create a server',
  renew: 'Renew a server',
  delete: 'Delete a server',
} as const;

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

type Canceled = Extract<Approval, { state: 'canceled' }>;
type Ended = Extract<Approval, { state: 'ended' }>;

/** Why an approval was canceled, as part of a sentence. */
function cancelWords(approval: Canceled): string {
  return describeReason(CANCEL_WORDS, approval.reason, approval);
}

const CANCEL_WORDS: ReasonWords<CancelDetails, [Canceled]> = {
  role_needed: (_, { requesterId }) => `${mention(requesterId)} no longer has permission`,
  account_changed: () => 'the hosting account was reconnected after the request',
  unknown_server: () => 'the server no longer exists',
  server_protected: () => 'an owner has protected the server',
  label_differs: () => 'the server’s label has changed since the request',
  already_renewed: () => 'the server has been renewed since the request',
  unknown_choice: (_, { action }) =>
    `the ${kindOf(action) === 'create' ? 'plan, location or image' : 'plan'} is no longer in the catalog`,
  price_moved: () => 'the price has changed since the request',
  over_budget: () => 'this month’s budget no longer covers it',
  stale_confirmation: () => 'the app was offline too long after approval',
  restored: () =>
    'the app’s database was restored from a backup, so we can’t tell whether it was already answered',
};

/** How an approved delete ended; the messages about a purchase come from its operation. */
function endWords({ action, reason }: Ended, currency: string): string {
  const name = labelOfAction(action);
  return describeReason(END_WORDS, reason, codeLabel(name), { currency, name });
}

interface Wording {
  readonly currency: string;
  /** The label as it is, unlike the one that is ready to be shown. */
  readonly name: string;
}

type EndWords<Details> = (details: Details, label: string, wording: Wording) => string;

/** Words for a delete that the hosting API refused. */
function failed(code: HostingCode | 'unknown_code'): EndWords<NoDetails> {
  return (_details, _label, { name }) => failedWords({ act: 'delete', label: name }, code, {});
}

/** Words for a delete that one of our rules stopped. */
function refused<Code extends RefusalCode>(code: Code): EndWords<RefusalDetails[Code]> {
  return (details, label, { currency }) =>
    `${label} was not deleted. ${wordsOfRefusal(code, details, currency)}`;
}

const END_WORDS: ReasonWords<DeleteEndDetails, [label: string, wording: Wording]> = {
  done: (_, label) => `${label} was deleted.`,
  server_protected: (_, label) => `${label} was not deleted: an owner has protected it.`,
  no_answer: (_, label) =>
    `We’re not sure whether ${label} was deleted: the hosting API didn’t confirm it. Check with \`/vps list\`.`,
  lost_account: (_, label) =>
    `We’re not sure whether ${label} was deleted: the hosting API didn’t confirm it, and the hosting account was reconnected since. Check the previous account’s page.`,
  defect: (_, label) =>
    `Something went wrong while deleting ${label}, so we’re not sure whether it was deleted. Check with \`/vps list\`.`,
  unauthorized: failed('unauthorized'),
  not_allowed: failed('not_allowed'),
  bad_request: failed('bad_request'),
  not_enough_balance: failed('not_enough_balance'),
  limit: failed('limit'),
  not_created: failed('not_created'),
  checking: failed('checking'),
  not_found: failed('not_found'),
  wrong_state: failed('wrong_state'),
  rate_limited: failed('rate_limited'),
  not_sent: failed('not_sent'),
  no_api_key: refused('no_api_key'),
  account_changed: (_, label) =>
    `${label} was not deleted: the hosting account was reconnected after the request.`,
  key_unreadable: refused('key_unreadable'),
  waited_too_long: refused('waited_too_long'),
  shutting_down: refused('shutting_down'),
};

/** What a form says once another manager has to approve what was confirmed in it. */
export function waitingWords(approval: Approval, { currency }: Pick<SlackRequest, 'currency'>): string[] {
  return [approvalWords(approval, currency), 'You can close this window. We’ll message you the result.'];
}

/** What a form says when an approval of the same was requested before, in this form or another one. */
export function requestedBeforeWords(
  approval: Approval,
  formId: ConfirmationId,
  { currency, caller }: Pick<SlackRequest, 'currency' | 'caller'>,
): string[] {
  const isOthers = approval.requesterId !== caller.actor.userId;
  const first = isOthers
    ? `${mention(approval.requesterId)} has already requested this. If you’re a manager, you can approve it in \`/vps status\`.`
    : approval.id === formId
      ? 'You already confirmed this.'
      : 'You’ve already requested this.';
  return [first, approvalWords(approval, currency)];
}
