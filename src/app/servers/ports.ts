import type { ServerId, UserId, WorkspaceId } from '../../domain/ids.ts';
import type { ServerNote } from '../../domain/server-note.ts';
import type { Log } from '../../log.ts';
import type { System } from '../../system.ts';
import type { AuditLog, Workspaces } from '../account/ports.ts';
import type { RolePorts } from '../authorize/find-roles.ts';
import type { SeenRequests } from '../authorize/ports.ts';
import type { Ledger } from '../purchases/ports.ts';

/** What the use cases about servers need from outside, besides the hosting API. */
export interface ServerPorts extends RolePorts {
  readonly log: Log;
  readonly system: System;
  readonly seenRequests: Pick<SeenRequests, 'addFirst'>;
  readonly workspaces: Pick<Workspaces, 'find'>;
  readonly ledger: Pick<Ledger, 'listOfServer' | 'findCreateOf'>;
  readonly audit: Pick<AuditLog, 'list'>;
  readonly protections: Protections;
  readonly serverNotes: ServerNotes;
}

/** That an owner protects a server: it can't be stopped, rebooted or deleted until an owner lifts that. */
export interface Protection {
  readonly serverId: ServerId;
  readonly protectedBy: UserId;
  readonly protectedAt: number;
}

/** The protected servers of each workspace. */
export interface Protections {
  find(workspaceId: WorkspaceId, serverId: ServerId): Promise<Protection | undefined>;
  /** Does nothing when it is protected already. */
  put(workspaceId: WorkspaceId, protection: Protection): Promise<void>;
  remove(workspaceId: WorkspaceId, serverId: ServerId): Promise<void>;
}

/** The notes of each workspace, at most one for each server. */
export interface ServerNotes {
  find(workspaceId: WorkspaceId, serverId: ServerId): Promise<ServerNote | undefined>;
  list(workspaceId: WorkspaceId): Promise<readonly ServerNote[]>;
  /** Replaces the note that the server has. */
  put(workspaceId: WorkspaceId, note: ServerNote): Promise<void>;
  remove(workspaceId: WorkspaceId, serverId: ServerId): Promise<void>;
}
