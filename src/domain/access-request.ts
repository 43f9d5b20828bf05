import type { Role } from './actor.ts';
import type { AccessRequestState, Decision } from './decision.ts';

/** A user asked the owners for a role. */
export interface AccessRequest extends Decision {
  readonly role: Role;
  readonly pattern: string;
  /** What the requester wrote. */
  readonly reason: string;
  readonly state: AccessRequestState;
  /** When the approved role ends; absent when it is permanent. */
  readonly until?: number;
}
