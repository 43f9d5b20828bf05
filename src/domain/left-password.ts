import type { ConfirmationId, ServerId, UserId } from './ids.ts';

/** Why the creator of a server is gone, as far as its root password is concerned (docs/design.md 5). */
export const ABSENCES = ['creator_deactivated', 'creator_not_member', 'creator_without_role'] as const;
export type Absence = (typeof ABSENCES)[number];

/** A stored root password whose creator is gone: an owner can erase it, and can't see it. */
export interface LeftPassword {
  readonly operationId: ConfirmationId;
  readonly serverId: ServerId;
  /** As it was ordered. */
  readonly label: string;
  readonly creatorId: UserId;
  readonly absence: Absence;
}
