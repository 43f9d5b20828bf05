import type { Changes } from './journal.ts';
import { ERROR_CODES, type ErrorCode, OPERATIONS, type Operation } from './protocol.ts';
import type { Supplier } from './servers.ts';

/** What happens to a request under a fault: whether its work is done, and what the caller gets to see. */
export interface Effect {
  readonly works: boolean;
  readonly shows:
    | 'answer'
    | 'answer_with_error'
    | 'other_answer'
    | 'cut'
    | 'nothing'
    | 'status_500'
    | 'html'
    | 'garbage';
  /** Between the work and the answer. */
  readonly waits?: true;
}

/** Every kind of fault. To add one: a line here, and, if it shows something new, a case in api.ts. */
export const FAULT_EFFECTS = {
  lost_before: { works: false, shows: 'cut' },
  lost_after: { works: true, shows: 'cut' },
  hang_before: { works: false, shows: 'nothing' },
  hang: { works: true, shows: 'nothing' },
  slow: { works: true, shows: 'answer', waits: true },
  status_500: { works: false, shows: 'status_500' },
  status_500_after: { works: true, shows: 'status_500' },
  html: { works: false, shows: 'html' },
  garbage: { works: true, shows: 'garbage' },
  error: { works: false, shows: 'answer' },
  error_beside: { works: true, shows: 'answer_with_error' },
  error_in_2xx: { works: false, shows: 'answer_with_error' },
  other_answer: { works: true, shows: 'other_answer' },
  other_answer_before: { works: false, shows: 'other_answer' },
  checking_completes: { works: true, shows: 'answer' },
  checking_refunds: { works: true, shows: 'answer' },
} as const satisfies Record<string, Effect>;

export type FaultKind = keyof typeof FAULT_EFFECTS;

export const FAULT_KINDS = Object.keys(FAULT_EFFECTS) as FaultKind[];

/** A fault on request. Delays are real milliseconds; `afterMs` is on the service's own clock. */
export interface FaultRule {
  /** `paid` is create and renew, the two that cost money. */
  readonly on: Operation | 'paid' | 'any';
  readonly kind: FaultKind;
  /** How many requests it hits; default: one. */
  readonly times?: number | 'always';
  /** Only this account's requests; default: every account's. */
  readonly accountId?: number;
  /** For `slow`: how long the answer is held back. */
  readonly delayMs?: number;
  /** For `error`: the code to refuse with; for `error_beside` and `error_in_2xx` the default is `bad_request`. */
  readonly code?: ErrorCode;
  /** For `html`: the status of the page (default 502); for the other answers the default is 200. */
  readonly status?: number;
  /** For `garbage`: the whole answer. */
  readonly garbage?: string | Uint8Array;
  /** For the other answers: a body instead of the correct one. */
  readonly body?: unknown;
  /** For the other answers, without a `body`: fields beside those of the correct one; a list becomes `servers`. */
  readonly beside?: Readonly<Record<string, unknown>>;
  /** For the other answers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For the `checking` kinds: when the server appears or the money is back, a minute later by default. */
  readonly afterMs?: number;
}

/** A rule that is switched on, with how often it still strikes. */
export interface Fault {
  readonly id: number;
  readonly rule: FaultRule;
  readonly left: number;
}

const CHECKING_MS = 60_000;

/** The faults that are switched on; the first that fits a request strikes. */
export class FaultBook {
  readonly #changes: Changes;
  #faults: Fault[] = [];
  #lastId = 0;

  constructor(changes: Changes) {
    this.#changes = changes;
  }

  /** Switches a fault on and returns its id. @throws RangeError for a rule that makes no sense */
  add(rule: FaultRule): number {
    checkRule(rule);
    this.#lastId += 1;
    const left = rule.times === 'always' ? Number.POSITIVE_INFINITY : (rule.times ?? 1);
    this.#faults.push({ id: this.#lastId, rule, left });
    this.#changes.tell();
    return this.#lastId;
  }

  remove(id: number): void {
    this.#faults = this.#faults.filter((fault) => fault.id !== id);
    this.#changes.tell();
  }

  clear(): void {
    this.#faults = [];
    this.#changes.tell();
  }

  list(): readonly Fault[] {
    return this.#faults;
  }

  /** The rule that strikes this request, if any; it is used up by one. */
  take(operation: Operation, accountId: number): FaultRule | undefined {
    const struck = this.#faults.find(({ rule }) => fits(rule, operation, accountId));
    if (!struck) return undefined;
    this.#faults = this.#faults
      .map((fault) => (fault === struck ? { ...fault, left: fault.left - 1 } : fault))
      .filter((fault) => fault.left > 0);
    this.#changes.tell();
    return struck.rule;
  }
}

/** What a rule does to a request; without a rule, a correct answer. */
export function effectOf(rule: FaultRule | undefined, operation: Operation): Effect {
  if (!rule) return { works: true, shows: 'answer' };
  // These two refusals move money (docs/hosting-api.md 3), so the create itself has to make them.
  if (rule.kind === 'error' && operation === 'create' && supplierOf(rule).says !== 'yes')
    return { works: true, shows: 'answer' };
  return FAULT_EFFECTS[rule.kind];
}

/** What the supplier says to a create request under a rule. */
export function supplierOf(rule: FaultRule | undefined): Supplier {
  const afterMs = rule?.afterMs ?? CHECKING_MS;
  if (rule?.kind === 'checking_completes') return { says: 'nothing', completes: true, afterMs };
  if (rule?.kind === 'checking_refunds') return { says: 'nothing', completes: false, afterMs };
  if (rule?.kind === 'error' && rule.code === 'checking')
    return { says: 'nothing', completes: false, afterMs };
  if (rule?.kind === 'error' && rule.code === 'not_created') return { says: 'no' };
  return { says: 'yes' };
}

function fits(rule: FaultRule, operation: Operation, accountId: number): boolean {
  if (!concerns(rule.on, operation)) return false;
  if (rule.accountId !== undefined && rule.accountId !== accountId) return false;
  return operation === 'create' || !isChecking(rule.kind);
}

function concerns(on: FaultRule['on'], operation: Operation): boolean {
  if (on === 'paid') return operation === 'create' || operation === 'renew';
  return on === 'any' || on === operation;
}

function isChecking(kind: FaultKind): boolean {
  return kind === 'checking_completes' || kind === 'checking_refunds';
}

function checkRule({ on, kind, times, delayMs, code, afterMs, status }: FaultRule): void {
  const refuse = (why: string): never => {
    throw new RangeError(`This fault makes no sense: ${why}.`);
  };
  if (!(kind in FAULT_EFFECTS)) refuse(`there is no kind "${kind}"`);
  if (on !== 'any' && on !== 'paid' && !OPERATIONS.includes(on)) refuse(`there is no operation "${on}"`);
  if (isChecking(kind) && !concerns(on, 'create')) refuse(`only create can be "${kind}"`);
  if (kind === 'error' && (code === undefined || !ERROR_CODES.includes(code))) refuse('it needs an API code');
  if (kind === 'slow' && delayMs === undefined) refuse('it needs a delayMs');
  if (times !== undefined && times !== 'always' && !(Number.isInteger(times) && times > 0))
    refuse('times must be a whole number above zero, or "always"');
  for (const ms of [delayMs, afterMs])
    if (ms !== undefined && !(Number.isFinite(ms) && ms >= 0)) refuse('a time must be zero or more');
  if (status !== undefined && !(Number.isInteger(status) && status >= 200 && status <= 599))
    refuse('a status must be between 200 and 599');
}
