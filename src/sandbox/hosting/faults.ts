import type { ErrorCode, Operation } from './protocol.ts';
import type { Supplier } from './servers.ts';

/** What happens to a request under a fault: whether its work is done, what the caller gets to see, and whether it waits. */
export type Effect = { readonly waits?: true } & (typeof FAULT_EFFECTS)[FaultKind];

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
} as const;

export type FaultKind = keyof typeof FAULT_EFFECTS;

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
  #faults: Fault[] = [];
  #lastId = 0;

  add(rule: FaultRule): number {
    this.#lastId += 1;
    const left = rule.times === 'always' ? Number.POSITIVE_INFINITY : (rule.times ?? 1);
    this.#faults.push({ id: this.#lastId, rule, left });
    return this.#lastId;
  }

  remove(id: number): void {
    this.#faults = this.#faults.filter((fault) => fault.id !== id);
  }

  clear(): void {
    this.#faults = [];
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

function fits({ on, kind, accountId: only }: FaultRule, operation: Operation, accountId: number): boolean {
  const isPaid = operation === 'create' || operation === 'renew';
  if (on !== 'any' && on !== operation && !(on === 'paid' && isPaid)) return false;
  if (only !== undefined && only !== accountId) return false;
  return operation === 'create' || !kind.startsWith('checking_');
}
