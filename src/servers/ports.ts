import type { ServerId, UserId, WorkspaceId } from '../core/ids.ts';
import type { ServerNote } from '../core/server.ts';

/** An owner's protection of a server: it can't be stopped, rebooted or deleted until an owner lifts the protection. */
export interface Protection {
  readonly serverId: ServerId;
  readonly protectedBy: UserId;
  /** Epoch milliseconds. */
  readonly protectedAt: number;
}

/** The protected servers of each workspace. */
export interface Protections {
  find(workspaceId: WorkspaceId, serverId: ServerId): Promise<Protection | undefined>;
  /** Does nothing if the server is already protected. */
  put(workspaceId: WorkspaceId, protection: Protection): Promise<void>;
  remove(workspaceId: WorkspaceId, serverId: ServerId): Promise<void>;
}

/** The notes of each workspace, at most one for each server. */
export interface ServerNotes {
  find(workspaceId: WorkspaceId, serverId: ServerId): Promise<ServerNote | undefined>;
  list(workspaceId: WorkspaceId): Promise<readonly ServerNote[]>;
  /** Replaces the server's note. */
  put(workspaceId: WorkspaceId, note: ServerNote): Promise<void>;
  remove(workspaceId: WorkspaceId, serverId: ServerId): Promise<void>;
}
