import type { AccessRequestState, ClosedState } from '../requests/decision.ts';
import type { ServerId, UserId } from './ids.ts';
import type { Money } from './money.ts';
import type { Role } from './roles.ts';
import type { Secret } from './secret.ts';
import type { ListExtent, PowerAction, Server } from './server.ts';

/** The ten codes of docs/hosting-api.md 7.2. */
export const API_CODES = [
  'unauthorized',
  'not_allowed',
  'bad_request',
  'not_enough_balance',
  'limit',
  'not_created',
  'checking',
  'not_found',
  'wrong_state',
  'rate_limited',
] as const;
export type ApiCode = (typeof API_CODES)[number];

/** What can go wrong between us and the API; the client adds these three to the API's own ten. */
export type HostingCode = ApiCode | 'no_answer' | 'unreadable_answer' | 'not_sent';

/** The refusals of our own rules, with the details of each. Their words are in `slack/<feature>/refusal-words.ts`. */
export interface RefusalDetails extends ServerRefusalDetails, ReminderRefusalDetails, WorkflowRefusalDetails {
  // permission
  /** `label`: the role is held, but not for that server. `owners`: known users who could grant it. */
  role_needed: { needed: Role; held?: Role; label?: string; owners?: readonly string[] };
  /** `missingScope`: Slack names another team, and without that scope the app can't see who is a member of this one. */
  other_organization: { missingScope?: string };
  other_workspace: Record<never, never>;
  /** `userId`: another user, whom the app was acting for. */
  identity_unknown: { userId?: string };
  not_creator: { label: string };
  already_handled: Record<never, never>;
  /** The process stood still for so long that another one has told the user that nothing was done. */
  /** A newer version of the app has stored what this one can't read: it is left to that one. */
  /** A button or modal whose contents can't be read: written by another version of the app, or forged. */
  unreadable_press: Record<never, never>;
  // typed text
  unknown_command: { typed: string; nearest?: string };
  bad_words: { problem: string; usage: string };
  unknown_choice: { field: 'plan' | 'location' | 'image'; typed: string; nearest?: string };
  bad_label: { problem: string };
  // money
  price_moved: { before: Money; now: Money };
  already_renewed: { label: string; paidUntil: number };
  paid_until_unknown: { label: string };
  create_in_doubt: { label: string };
  /** The same, and the order is of another workspace that has the same hosting account. */
  create_in_doubt_elsewhere: { label: string };
  /** A server with that label has appeared since the review. */
  label_taken: { label: string };
  /** Another workspace that has the same hosting account has ordered the same month. */
  renewed_elsewhere: { label: string };
  stale_confirmation: Record<never, never>;
  /** The form was opened before the database was restored: what happened to it since may be lost. */
  restored: Record<never, never>;
  /** The service did not show all of its servers, so a new one could not be recognized. */
  list_incomplete: Record<never, never>;
  /** The store failed: the confirmation may be stored, and carried out, or not. */
  order_unsaved: { isDatabaseAway?: boolean };
  /** The store failed: the approval may be stored, and carried out, or not. */
  approval_unsaved: Record<never, never>;
  doubt_over: Record<never, never>;
  /** The API key was set after the confirmation: it may be another account's. */
  account_changed: Record<never, never>;
  label_moved: { before: string; now: string };
  // password and key
  no_password: { label: string };
  no_api_key: Record<never, never>;
  key_unreadable: { keyId: string };
  link_unusable: { reason: 'used' | 'expired' | 'unknown' };
  no_public_url: { workspaceId: string };
  // access
  last_owner: Record<never, never>;
  /** The grants changed while it was checked whether an owner would be left. */
  grants_moved: Record<never, never>;
  owner_limited: Record<never, never>;
  /** Bots, deactivated users, users from another organization, unknown IDs. */
  no_grantee: {
    problem:
      | 'bot'
      | 'owner_channel'
      | 'deactivated'
      | 'stranger'
      | 'unknown_user'
      | 'unknown_group'
      | 'disabled_group'
      | 'no_group_scope'
      | 'no_user_scope'
      | 'slack_silent'
      | 'unknown_channel'
      | 'archived_channel';
  };
  grant_over: Record<never, never>;
  role_held: { role: Role };
  /** A server without a label can't be told apart from every server. */
  label_needed: { role: Role };
  /** `state`: how the earlier request ended. */
  asked_before: { at: number; state: AccessRequestState; againAt: number };
  asked_enough: { wishes: readonly { role: Role; pattern: string; at: number }[]; againAt: number };
  /** More than the requester asked for was to be approved. */
  beyond_request: { role: Role };
  own_request: Record<never, never>;
  /** Only the requester can withdraw a request. */
  not_requester: { requesterId: UserId };
  /** The user has no open access request to withdraw. */
  no_open_request: Record<never, never>;
  /** The button that goes on with a command is too old, or not this user's. */
  continuation_over: { command?: string };
  request_over: { state: ClosedState; by?: UserId };
  // two-person rule and budget
  approval_needed: Record<never, never>;
  /** Why it could not be checked whether the request is still valid. */
  not_approved: { reason: UncheckedReason };
  over_budget: { whose: 'workspace' | 'person'; spent: Money; most: Money; price?: Money };
  /** An owner has frozen purchases. */
  purchases_frozen: { frozenBy: UserId; since: number };
  channel_unwritable: { reason: string };
  /** Another user saved other settings while the form was open. */
  settings_moved: Record<never, never>;
  too_many_waiting: Record<never, never>;
  waited_too_long: Record<never, never>;
  shutting_down: Record<never, never>;
}
export type RefusalCode = keyof RefusalDetails;

export type NoDetails = Record<never, never>;

/** Why the hosting account could not be used: the API's answer, or what prevented the call. */
export interface HostingFailureDetails
  extends Record<HostingCode | 'unknown_code', NoDetails>,
    Pick<RefusalDetails, (typeof PLAIN_FAILURES)[number] | 'key_unreadable'> {}
type HostingFailure = Reason<HostingFailureDetails>;

/** Why something could not be checked: the hosting account could not be used, or Slack did not answer. */
export type UncheckedReason = HostingFailure | Reason<RefusalDetails, 'identity_unknown'>;

/** The API answered with an error, or did not answer, or nothing was sent. */
export class HostingError extends Error {
  override readonly name = 'HostingError';
  readonly code: HostingCode | 'unknown_code';
  /**
   * Whether money may have moved despite the error: `no` only with proof that the work was not done.
   * Money effect: a call with `maybe` must never be sent again automatically.
   */
  readonly moneyMoved: 'no' | 'maybe';
  /** What is known of the answer, for the log: status, the API's own words (masked and shortened). */
  readonly details: HostingErrorDetails;
  /**
   * The unreadable answer to a create: it may contain the root password, which the service shows only once
   * (docs/hosting-api.md 4). For its creator only.
   */
  readonly sealedAnswer: Secret<string> | undefined;

  constructor(
    code: HostingCode | 'unknown_code',
    moneyMoved: 'no' | 'maybe',
    details: HostingErrorDetails = {},
    sealedAnswer?: Secret<string>,
  ) {
    super(`hosting API: ${code}`);
    this.code = code;
    this.moneyMoved = moneyMoved;
    this.details = details;
    this.sealedAnswer = sealedAnswer;
  }
}

export interface HostingErrorDetails {
  readonly operation?: string;
  /** Absent if no answer arrived; set for every answer, readable or not. */
  readonly status?: number;
  /**
   * Why an answer could not be read: not JSON, a success that carries an error, not the documented shape, or an error
   * whose codes contradict each other (or only repeat what we sent).
   */
  readonly problem?: 'not_json' | 'carries_error' | 'unexpected' | 'ambiguous_code' | 'too_large';
  /** The documented code inside a 2xx answer. */
  readonly apiCode?: ApiCode;
  readonly cause?: string;
  /** The unknown code, if the answer had one. */
  readonly unknownCode?: string;
  /** The server's state, which does not allow the action. */
  readonly state?: string;
  /** The action that is proven not to have been carried out, where there was one. */
  readonly failed?: FailedAct;
}

/** A refusal by one of our own rules; nothing was sent. */
export class Refusal<Code extends RefusalCode = RefusalCode> extends Error {
  override readonly name = 'Refusal';
  readonly code: Code;
  readonly details: RefusalDetails[Code];

  constructor(code: Code, details: RefusalDetails[Code]) {
    super(`refused: ${code}`);
    this.code = code;
    this.details = details;
  }
}

/** Whether it is the refusal with this code; narrows its details to that code's type. */
export function isRefusal<Code extends RefusalCode>(error: unknown, code: Code): error is Refusal<Code> {
  return error instanceof Refusal && error.code === code;
}

/** Reads the error as a failure of the hosting account; undefined for any other error. */
export function findHostingFailure(error: unknown): HostingFailure | undefined {
  if (error instanceof HostingError) return { code: error.code, details: {} };
  if (isRefusal(error, 'key_unreadable')) return { code: 'key_unreadable', details: error.details };
  const code = PLAIN_FAILURES.find((each) => isRefusal(error, each));
  return code && { code, details: {} };
}

const PLAIN_FAILURES = ['no_api_key', 'account_changed', 'waited_too_long', 'shutting_down'] as const;

/** Distinguishes expected failures, which have words for users, from defects. */
export function isExpected(error: unknown): error is HostingError | Refusal {
  return error instanceof HostingError || error instanceof Refusal;
}

/** A defect's name and location; never its message, which may repeat what a user typed or what an answer contained. */
export function describeDefect(error: unknown): { name: string; stack: string } {
  if (!(error instanceof Error)) return { name: typeof error, stack: '' };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return { name: error.name, stack: frames.slice(0, 12).join('\n') };
}

/** The servers that a refusal offers instead of the one that was named; none where there is nothing to choose. */
export function choicesOf(error: unknown): readonly Server[] {
  if (isRefusal(error, 'ambiguous_server')) return error.details.servers;
  return isRefusal(error, 'unknown_server') ? (error.details.near ?? []) : [];
}

/** What can be done to a server for free. */
export type ServerAct = PowerAction | 'delete';

/** What was not done to which server: errors name both. */
export interface FailedAct {
  readonly act: ServerAct;
  readonly label: string;
  /** Absent when the server was not found before the failure. */
  readonly serverId?: ServerId;
  /** Whether the paid time of the server has ended. */
  readonly isPaidTimeOver?: boolean;
}

/** The refusals about servers, with the details of each. */
interface ServerRefusalDetails {
  /**
   * `near`: several labels are equally near. `act`: what was to be done to the server. `extent`: of the list that doesn't
   * have it; absent if that list is whole.
   */
  unknown_server: {
    typed: string;
    nearest?: string;
    nearestId?: ServerId;
    near?: readonly Server[];
    act?: PowerAction;
    extent?: Exclude<ListExtent, 'whole'>;
  };
  ambiguous_server: { typed: string; servers: readonly Server[] };
  label_differs: { typed: string; label: string };
  too_many_servers: { count: number; most: number; action: PowerAction };
  /** An owner protects the server: it can't be stopped, rebooted or deleted. */
  server_protected: { server: Pick<Server, 'id' | 'label'>; act: ServerAct; protectedBy: UserId };
  /** Only the beginning of a label was typed: the user has to confirm which server was meant. */
  prefix_only: { typed: string; server: Server; action: PowerAction };
  /** The server was rebooted a moment ago, perhaps by someone else: the user has to confirm another reboot. */
  rebooted_recently: { server: Server; agoMs: number; rebootedBy: UserId };
  /** The server has another label than the one that the user confirmed. */
  server_renamed: { before: string; now: string; action: PowerAction };
  /** The list of servers was confirmed too late. */
  confirmation_expired: { action: PowerAction };
}

/** The refusals of reminders. */
interface ReminderRefusalDetails {
  /** The paid time ends too soon for another reminder after the snooze. */
  snooze_too_late: { label: string };
  /** None of the servers that the user may renew has to be renewed soon. */
  nothing_to_renew: Record<never, never>;
}

/** The refusals about workflows, with the details of each. */
interface WorkflowRefusalDetails {
  /**
   * What a workflow came with does not permit this: no key of this workspace (or a revoked one), one that has expired, or one
   * for other actions.
   */
  workflow_key_invalid: { problem: 'unknown' | 'expired' | 'action' };
  workflow_key_name: { name: string };
  workflow_keys_full: { most: number };
  /** Another owner has revoked it. */
  workflow_key_gone: Record<never, never>;
  /** The run was answered, canceled or given up, or is being carried out. */
  workflow_run_over: Record<never, never>;
}

/**
 * Why something ended as it did: a code and its details. `Details` maps each code to the shape of its details, so the codes
 * are a closed union, and code that handles a reason has to handle every code.
 */
export type Reason<Details, Code extends keyof Details = keyof Details> = {
  [Each in Code]: { readonly code: Each; readonly details: Details[Each] };
}[Code];

/** Words for every code: a code without words does not compile. */
export type ReasonWords<Details, Rest extends readonly unknown[] = []> = {
  readonly [Code in keyof Details]: (details: Details[Code], ...rest: Rest) => string;
};

/** Puts a reason into words. */
export function describeReason<Details, Code extends keyof Details, Rest extends readonly unknown[]>(
  words: ReasonWords<Details, Rest>,
  { code, details }: Reason<Details, Code>,
  ...rest: Rest
): string {
  return words[code](details, ...rest);
}

/**
 * The database can't be reached, or the connection was lost: what it was asked for was done or not. `cause` says why, for the
 * operator alone.
 */
export class DatabaseUnreachable extends Error {
  override readonly name: string = 'DatabaseUnreachable';

  constructor(cause: unknown, words = cause instanceof Error ? cause.message : 'no answer') {
    super(words, { cause });
  }

  /** The code or the name of the cause, for the log: its message may contain what not everyone should read. */
  get reason(): string {
    const { cause } = this;
    if (!(cause instanceof Error)) return 'unknown';
    return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
  }
}
