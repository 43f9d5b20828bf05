import type { Grant, Grantee } from '../../domain/access.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { ChannelId, GrantId, UserId, WorkspaceId } from '../../domain/ids.ts';

export type NewGrant = Omit<Grant, 'id'>;

/** A count of the changes: what was decided by looking at the grants holds only while it stays the same. */
export type GrantsVersion = number;

/** Who has which role (docs/design.md 3). */
export interface Grants {
  /**
   * Replaces the permanent grant that the same subject has for the same servers, or the temporary one of the same role:
   * temporary grants stand beside each other and beside the permanent one. An owner covers every server: a pattern with
   * it is a defect.
   * With `seen`, here and below, nothing is changed unless the grants are still those of that version.
   * @throws Refusal `grants_moved`
   */
  put(grant: NewGrant, seen?: GrantsVersion): Promise<Grant>;
  /** Undefined when it was gone already. @throws Refusal `grants_moved` */
  remove(workspaceId: WorkspaceId, id: GrantId, seen?: GrantsVersion): Promise<Grant | undefined>;
  /** All grants of one subject; returns the removed ones. @throws Refusal `grants_moved` */
  removeAll(workspaceId: WorkspaceId, grantee: Grantee, seen?: GrantsVersion): Promise<readonly Grant[]>;
  /** How often the grants of this workspace have changed. */
  readVersion(workspaceId: WorkspaceId): Promise<GrantsVersion>;
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
