import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { Decision } from '../../domain/decision.ts';
import type { Deciders, DecisionNotifier, DecisionPorts, DecisionStore } from './ports.ts';

/** What differs between kinds of decisions; everything else is shared. */
export interface DecisionKind<Kind extends Decision> {
  /** Its name in the log. */
  readonly name: string;
  readonly ports: DecisionPorts;
  readonly store: DecisionStore<Kind>;
  readonly notifier: DecisionNotifier<Kind>;
  findDeciders(decision: Kind): Promise<Deciders>;
  auditOfExpiry(decision: Kind): AuditEntry;
  /** True: the requester is told if no decider could be reached. False: posting is tried again until one is reached. */
  readonly notifiesRequesterWhenUnreached: boolean;
  /** True: the requester is told that deciders were asked, and can withdraw the request from that message. */
  readonly confirmsToRequester: boolean;
  /** States that the requester caused, so that no message about them is needed. */
  readonly knownStates: readonly Kind['state'][];
  /** What follows once users were told the outcome; before that is stored, so that a crash can repeat it. Never throws. */
  afterOutcome?(decision: Kind): Promise<void>;
}
