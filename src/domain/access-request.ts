import type { Role } from './actor.ts';
import type { AccessRequestState, Decision } from './decision.ts';

/** A user asked the owners for a role. */
export interface AccessRequest extends Decision {
  readonly role: Role;
  readonly pattern: string;
  /** What the requester wrote. */
  readonly reason: string;
  readonly state: AccessRequestState;
  /** What the requester typed when they were told that they need a role: `reboot web-1`. */
  readonly command?: string;
  /** What was granted, which may be less than what was requested. */
  readonly granted?: { readonly role: Role; readonly pattern: string };
  /** When the approved role ends; absent when it is permanent. */
  readonly until?: number;
}
