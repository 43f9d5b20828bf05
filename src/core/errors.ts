import type { ClosedState, RoleRequestState } from '../requests/request.ts';
import type { ServerId, UserId } from './ids.ts';
import type { Money } from './money.ts';
import type { Role } from './roles.ts';
import type { Secret } from './secret.ts';
import type { ListExtent, NamedServer, PowerAction, RecentReboot, Server } from './server.ts';

/** The ten error codes of the hosting API (docs/hosting-api.md 7.2). */
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

/** The API's ten codes, and three outcomes that come from the client (docs/hosting-api.md 7.6). */
export type HostingCode = ApiCode | 'no_answer' | 'unreadable_answer' | 'not_sent';

export type NoDetails = Record<never, never>;

/** The refusals by the app's own rules, with the details of each. `words.ts` has their words. */
export interface RefusalDetails {
  // permission
  /** `label`: set if a server was named; '' if the actor may not learn its label. `owners`: users who could grant the role. */
  role_needed: { needed: Role; held?: Role; label?: string; owners?: readonly string[] };
  /** `missingScope`: the scope without which the app can't see whether the user is a member of this workspace, too. */
  other_organization: { missingScope?: string };
  other_workspace: NoDetails;
  /** `userId`: the user whose role could not be checked, if the app was acting for them. */
  identity_unknown: { userId?: string };
  not_creator: { label: string };
  already_handled: NoDetails;
  /** A button or modal whose contents can't be read: written by another version of the app, or forged. */
  unreadable_press: NoDetails;
  // typed text
  /** `prefix`: what to type before a command here. */
  unknown_command: { typed: string; nearest?: string; prefix: string };
  bad_words: { problem: string; usage: string };
  unknown_choice: { field: 'plan' | 'location' | 'image'; typed: string; nearest?: string };
  bad_label: { problem: string };
  // money
  price_moved: { before: Money; now: Money };
  already_renewed: { label: string; paidUntil: number };
  paid_until_unknown: { label: string };
  /** An order for that label, or for that month, exists in the account and is unconfirmed. */
  order_in_doubt: { label: string; kind: 'create' | 'renew' };
  /** A server with that label has appeared since the user saw the review. */
  label_taken: { label: string };
  stale_confirmation: NoDetails;
  /** The form was opened before the database was restored, which may have lost what was done with the form. */
  restored: NoDetails;
  /** The list of servers is incomplete, so a new server could not be recognized (docs/design.md 4.3). */
  list_incomplete: NoDetails;
  /** An unexpected error, such as one of the store: what was confirmed or approved may be stored, and may still be carried out. */
  order_unsaved: NoDetails;
  doubt_over: NoDetails;
  /** The API key was replaced after the confirmation, so it may open another account. */
  account_changed: NoDetails;
  label_moved: { before: string; now: string };
  // password and key
  no_password: { label: string };
  /** The answer to the order of this label may still come, with the root password. */
  password_awaited: { label: string };
  /** `owners`: users who can connect an account; `isOwner`: the actor is one of them. */
  no_api_key: { owners?: readonly string[]; isOwner?: boolean };
  key_unreadable: { keyId: string };
  link_unusable: NoDetails;
  no_public_url: { workspaceId: string };
  // access
  last_owner: NoDetails;
  owner_limited: NoDetails;
  no_grantee: {
    problem:
      | 'owner_channel'
      | 'no_member'
      | 'unknown_group'
      | 'disabled_group'
      | 'no_group_scope'
      | 'no_user_scope'
      | 'slack_silent'
      | 'unknown_channel'
      | 'archived_channel';
  };
  grant_over: NoDetails;
  role_held: { role: Role };
  /** The user requested this role before. `state`: how that request ended. */
  asked_before: { at: number; state: RoleRequestState; againAt: number };
  asked_enough: NoDetails;
  /** The approver chose more than the requester asked for. */
  beyond_request: { role: Role };
  own_request: NoDetails;
  not_requester: { requesterId: UserId };
  no_open_request: NoDetails;
  continuation_over: { command?: string };
  request_over: { state: ClosedState; by?: UserId };
  // two-person rule and budget
  approval_needed: NoDetails;
  /** The approval could not be checked; `reason` says why. */
  not_approved: { reason: UncheckedReason };
  over_budget: { whose: 'workspace' | 'person'; spent: Money; most: Money; price?: Money };
  purchases_frozen: { frozenBy: UserId; since: number };
  channel_unwritable: { reason: string };
  /** Another user saved other settings while the form was open. */
  settings_moved: NoDetails;
  too_many_waiting: NoDetails;
  waited_too_long: NoDetails;
  shutting_down: NoDetails;
  // servers
  /**
   * `nearest`: the one label that is nearest to what was typed; `near`: the servers, if several labels are equally near.
   * `act`: the requested action. `extent`: of the list without the server; absent if that list is whole.
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
  server_protected: { server: NamedServer; act: ServerAct; protectedBy: UserId };
  /** Only the beginning of a label was typed: the user has to confirm which server was meant. */
  prefix_only: { typed: string; server: Server; action: PowerAction };
  /** The server was rebooted a moment ago, perhaps by someone else: the user has to confirm another reboot. */
  rebooted_recently: { server: Server } & RecentReboot;
  server_renamed: { before: string; now: string; action: PowerAction };
  // reminders
  /** The paid time ends too soon for another reminder after the snooze. */
  snooze_too_late: { label: string };
  /** No server that the user may renew is due soon. */
  nothing_to_renew: NoDetails;
  // workflows
  /** The workflow's key doesn't permit the action. `unknown`: revoked, or not a key of this workspace. */
  workflow_key_invalid: { problem: 'unknown' | 'expired' | 'action' };
  workflow_key_name: { name: string };
  workflow_key_gone: NoDetails;
  /** The run has ended (answered, canceled or given up), or is being carried out. */
  workflow_run_over: NoDetails;
}
export type RefusalCode = keyof RefusalDetails;

/** The reasons why the hosting account could not be used: the API's answer, or what prevented the call. */
interface HostingFailureDetails
  extends Record<HostingCode | 'unknown_code', NoDetails>,
    Pick<RefusalDetails, (typeof PLAIN_FAILURES)[number] | 'key_unreadable'> {}
type HostingFailure = Reason<HostingFailureDetails>;

/** Why a check could not be made: the hosting account could not be used, or Slack did not answer. */
export type UncheckedReason = HostingFailure | Reason<RefusalDetails, 'identity_unknown'>;

/** A failed call to the hosting API: it answered with an error, did not answer, or nothing was sent. */
export class HostingError extends Error {
  override readonly name = 'HostingError';
  readonly code: HostingCode | 'unknown_code';
  /**
   * Whether a paid call may have been charged despite the error: `no` only with proof that it was not. Money effect: a call
   * with `maybe` must never be sent again automatically.
   */
  readonly moneyMoved: 'no' | 'maybe';
  /** Facts about the call for the log, without the answer's text. */
  readonly details: HostingErrorDetails;
  /**
   * The unreadable answer to a create, for its creator only: it may contain the root password, which no other answer has
   * (docs/hosting-api.md 4.7).
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

/** Facts about a failed call. Apart from codes and a server's state, none repeats the answer's text. */
export interface HostingErrorDetails {
  /** The endpoint's name in logs and metrics. */
  readonly operation?: string;
  /** Absent if no answer arrived; set for every answer, readable or not. */
  readonly status?: number;
  /**
   * Why the answer could not be read. `carries_error`: a 2xx answer that says it is none. `unexpected`: not a documented
   * shape. `ambiguous_code`: an error whose codes contradict each other or only repeat what was sent.
   */
  readonly problem?: 'not_json' | 'carries_error' | 'unexpected' | 'ambiguous_code' | 'too_large';
  /** The code or name of the network failure, or what prevented the request. */
  readonly cause?: string;
  /** The undocumented code of the answer, if it can't be a secret. */
  readonly unknownCode?: string;
  /** The server's state, which does not allow the action. */
  readonly state?: string;
  readonly failed?: FailedAct;
}

/**
 * A refusal by one of the app's own rules. Money effect: none; only `order_unsaved` leaves open whether the order is carried out.
 */
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

/** Whether an error is the refusal with this code; narrows the type of its details. */
export function isRefusal<Code extends RefusalCode>(error: unknown, code: Code): error is Refusal<Code> {
  return error instanceof Refusal && error.code === code;
}

export function findHostingFailure(error: unknown): HostingFailure | undefined {
  if (error instanceof HostingError) return { code: error.code, details: {} };
  if (isRefusal(error, 'key_unreadable')) return { code: 'key_unreadable', details: error.details };
  const code = PLAIN_FAILURES.find((each) => isRefusal(error, each));
  return code && { code, details: {} };
}

const PLAIN_FAILURES = ['no_api_key', 'account_changed', 'waited_too_long', 'shutting_down'] as const;

/** Whether an error is an expected failure, which has words for users, rather than a defect. */
export function isExpected(error: unknown): error is HostingError | Refusal {
  return error instanceof HostingError || error instanceof Refusal;
}

/** Returns the name of an error for the log; never its message, which may repeat input or an answer. */
export function nameOfError(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}

/** Describes a defect for the log by its name and location; never by its message, which may repeat input or an answer. */
export function describeDefect(error: unknown): { name: string; stack: string } {
  if (!(error instanceof Error)) return { name: typeof error, stack: '' };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return { name: error.name, stack: frames.slice(0, 12).join('\n') };
}

/** Lists the servers that a refusal offers instead of the named one; none if there is nothing to choose. */
export function choicesOf(error: unknown): readonly Server[] {
  if (isRefusal(error, 'ambiguous_server')) return error.details.servers;
  return isRefusal(error, 'unknown_server') ? (error.details.near ?? []) : [];
}

/** An act on a server that costs nothing. */
export type ServerAct = PowerAction | 'delete';

export interface FailedAct {
  readonly act: ServerAct;
  readonly label: string;
  /** Absent if the server was not found before the failure. */
  readonly serverId?: ServerId;
  readonly isPaidTimeOver?: boolean;
}

const UNANSWERED = ['no_answer', 'unreadable_answer', 'unknown_code', 'checking'] as const;

/** A failure that doesn't prove whether the work was done. */
export type UnansweredCode = (typeof UNANSWERED)[number];

/** The code of a failure that doesn't prove whether the work was done; undefined for every other error. */
export function findUnanswered(error: unknown): UnansweredCode | undefined {
  return error instanceof HostingError ? UNANSWERED.find((code) => code === error.code) : undefined;
}

/**
 * Adds the action and the server to an error of the hosting API, so that a message can name both. Pass only errors that prove
 * that nothing was done; a lost answer is an outcome (`findUnanswered`). Other errors are returned unchanged.
 */
export function nameFailure(
  error: unknown,
  failed: FailedAct,
  more: { readonly state?: string } = {},
): unknown {
  // `checking` proves nothing, whatever was requested (docs/hosting-api.md 3.7).
  if (!(error instanceof HostingError) || error.code === 'checking') return error;
  const details = { ...error.details, state: more.state ?? error.details.state, failed };
  return new HostingError(error.code, error.moneyMoved, details);
}

/**
 * A code and its details. `Details` maps each code to the shape of its details, so that the codes are a closed union and the
 * compiler finds code that doesn't handle all of them.
 */
export type Reason<Details, Code extends keyof Details = keyof Details> = {
  [Each in Code]: { readonly code: Each; readonly details: Details[Each] };
}[Code];

/** A function for every code that puts its details into words: a missing one does not compile. */
export type ReasonWords<Details, Rest extends readonly unknown[] = []> = {
  readonly [Code in keyof Details]: (details: Details[Code], ...rest: Rest) => string;
};

export function describeReason<Details, Code extends keyof Details, Rest extends readonly unknown[]>(
  words: ReasonWords<Details, Rest>,
  { code, details }: Reason<Details, Code>,
  ...rest: Rest
): string {
  return words[code](details, ...rest);
}

/**
 * The database can't be reached, or the connection was lost, so the statement may or may not have run. `cause` is for the
 * operator alone.
 */
export class DatabaseUnreachable extends Error {
  override readonly name: string = 'DatabaseUnreachable';

  constructor(cause: unknown, words = cause instanceof Error ? cause.message : 'no answer') {
    super(words, { cause });
  }

  /** The code or name of the cause, for the log; never its message, which may contain confidential data. */
  get reason(): string {
    const { cause } = this;
    if (!(cause instanceof Error)) return 'unknown';
    return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
  }
}
