import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { Decision } from '../../domain/decision.ts';
import type { AppContext } from '../ports.ts';
import type { Deciders, DecisionNotifier, DecisionStore } from './ports.ts';

/** What differs between kinds of decisions; everything else is shared. */
export interface DecisionKind<Kind extends Decision> {
  /** Its name in the log. */
  readonly name: string;
  readonly app: AppContext;
  readonly store: DecisionStore<Kind>;
  readonly notifier: DecisionNotifier<Kind>;
  findDeciders(decision: Kind): Promise<Deciders>;
  auditOfExpiry(decision: Kind): AuditEntry;
  /** True: the requester is notified if no decider could be reached. False: posting is retried until one is reached. */
  readonly notifiesRequesterWhenUnreached: boolean;
  /** True: the requester gets a message that deciders were asked, and can withdraw the request there. */
  readonly confirmsToRequester: boolean;
  /** States that the requester caused, so that no message about them is needed. */
  readonly knownStates: readonly Kind['state'][];
  /** Runs when users were notified of the outcome, before that is stored: a crash can repeat it. Never throws. */
  afterOutcome?(decision: Kind): Promise<void>;
}
