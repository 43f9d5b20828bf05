import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { Decision } from '../../domain/decision.ts';
import type { Deciders, DecisionNotifier, DecisionPorts, DecisionStore } from './ports.ts';

/** What sets one kind of decision apart; everything else is the same for all of them. */
export interface DecisionKind<Kind extends Decision> {
  /** As the log calls it. */
  readonly name: string;
  readonly ports: DecisionPorts;
  readonly store: DecisionStore<Kind>;
  readonly notifier: DecisionNotifier<Kind>;
  findDeciders(decision: Kind): Promise<Deciders>;
  auditOfExpiry(decision: Kind): AuditEntry;
  /** Tell the requester when no decider could be reached; else the deciders are tried again until one is. */
  readonly notifiesRequesterWhenUnreached: boolean;
  /** A state that the requester caused, so that no message about it is needed. */
  readonly knownState?: Kind['state'];
}
