import type { Grant, Grantee } from '../../domain/access.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { ChannelId, GrantId, UserId, WorkspaceId } from '../../domain/ids.ts';

export type NewGrant = Omit<Grant, 'id'>;

/** Who has which role (docs/design.md 3). */
export interface Grants {
  /**
   * Replaces the permanent grant that the same subject has for the same servers, or the temporary one of the same role:
   * temporary grants stand beside each other and beside the permanent one. An owner covers every server: a pattern with
   * it is a defect.
   */
  put(grant: NewGrant): Promise<Grant>;
  /** Undefined when it was gone already. */
  remove(workspaceId: WorkspaceId, id: GrantId): Promise<Grant | undefined>;
  /** All grants of one subject; returns the removed ones. */
  removeAll(workspaceId: WorkspaceId, grantee: Grantee): Promise<readonly Grant[]>;
  /** Those that may count for this user in this place and have not ended: their own, the channel's and every group's. */
  listFor(
    workspaceId: WorkspaceId,
    place: { readonly userId: UserId; readonly channelId?: ChannelId },
    now: number,
  ): Promise<readonly Grant[]>;
  /** Oldest first; also those that have ended and are not removed yet. */
  list(workspaceId: WorkspaceId): Promise<readonly Grant[]>;
  /** Removes those that have ended, each with its audit entry in the same transaction. */
  removeEnded(now: number, auditOf: (grant: Grant) => AuditEntry): Promise<readonly Grant[]>;
}
