import type { ServerId, UserId, WorkspaceId } from '../core/ids.ts';
import type { ServerNote } from '../core/server.ts';
import type { Card } from '../requests/decision.ts';
import type { FollowedAct, FollowedServer } from './follow.ts';

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

/** Where the outcome of an act is reported. */
interface ActPlace {
  /** The channel's message; absent if there is none. */
  readonly message?: Card | undefined;
  /** The thread in which the actor acted. */
  readonly thread?: FollowedAct['thread'] | undefined;
}

/** An act to which a followed server is added. */
export type StartedAct = Pick<
  FollowedAct,
  'id' | 'workspaceId' | 'action' | 'actorId' | 'channelId' | 'keyGeneration'
>;

/** A lease on followed acts: its owner, now, and its end, in epoch milliseconds. */
export interface FollowLease {
  readonly owner: string;
  readonly now: number;
  readonly until: number;
}

/** A followed act that one process has leased. */
export interface TakenAct extends FollowedAct {
  /** The last look at it; epoch milliseconds. */
  readonly lookedAt: number;
}

/** Acts on servers, followed by any process until the outcome has been sent, and then removed (docs/design.md 2.11). */
export interface FollowedActs {
  /**
   * Adds a server to the act, due from `dueAt` on; once for each act and server. Supersedes what earlier acts follow of the
   * same server.
   */
  add(
    act: StartedAct,
    server: FollowedServer,
    times: { readonly now: number; readonly dueAt: number },
  ): Promise<void>;
  /** Supersedes what earlier acts follow of the server, after an action that needs no following. */
  supersede(act: Omit<StartedAct, 'keyGeneration'>, serverId: ServerId): Promise<void>;
  /** Stores where the act was announced, and makes it due from `dueAt` on. */
  place(id: string, place: ActPlace, times: { readonly now: number; readonly dueAt: number }): Promise<void>;
  /** Removes an act that no process has leased yet. */
  forget(id: string): Promise<void>;
  /** Leases up to `limit` due acts, which are due again when the lease ends. */
  take(lease: FollowLease, limit: number): Promise<readonly TakenAct[]>;
  /** Stores what was seen and reported, and when the act is due again. False if another process has leased it since. */
  save(act: FollowedAct, lease: FollowLease, dueAt: number): Promise<boolean>;
  /** Removes the act. False if another process has leased it since. */
  end(id: string, owner: string): Promise<boolean>;
  /** Ends all leases of this process, so that others can take the acts at once. */
  release(owner: string): Promise<void>;
}

/** Where the channels' messages about acts are, so that any process can edit them. `until`, `now`: epoch milliseconds. */
export interface ActMessages {
  put(id: string, workspaceId: WorkspaceId, message: Card, until: number): Promise<void>;
  find(id: string): Promise<Card | undefined>;
  remove(id: string): Promise<void>;
  removeExpired(now: number): Promise<void>;
}
