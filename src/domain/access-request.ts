import type { Role } from './actor.ts';
import type { Card } from './decision.ts';

/** A user asked the owners for a role. */
export interface AccessRequest {
  readonly id: string;
  readonly workspaceId: string;
  readonly requesterId: string;
  /** Where it was asked. */
  readonly channelId?: string;
  readonly role: Role;
  readonly pattern: string;
  readonly reason: string;
  readonly requestedAt: number;
  readonly expiresAt: number;
  readonly state: 'open' | 'approved' | 'denied' | 'replaced' | 'expired';
  readonly decidedBy?: string;
  /** When it stopped being open, by whatever. */
  readonly decidedAt?: number;
  /** Until when the role counts that was approved; absent when it is for good. */
  readonly until?: number;
  /** Whether this state has been told: in cards while it is open, to the asker after that. */
  readonly isNotified: boolean;
  readonly cards: readonly Card[];
}
