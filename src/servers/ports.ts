import type { ServerId, UserId, WorkspaceId } from '../core/ids.ts';
import type { ServerNote } from '../core/server.ts';
import type { Card } from '../requests/decision.ts';
import type { FollowedAct, FollowedServer } from './follow.ts';

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

/** Where an action is announced, as far as that is known once it was. */
interface ActPlace {
  /** The channel's message; absent if there is none. */
  readonly message?: Card | undefined;
  /** Where the actor acted, if in a thread. */
  readonly thread?: FollowedAct['thread'] | undefined;
}

/** An action of which another server is followed from now on. */
export type StartedAct = Pick<
  FollowedAct,
  'id' | 'workspaceId' | 'action' | 'actorId' | 'channelId' | 'keyGeneration'
>;

/** Who works on followed acts, from when and until when; epoch milliseconds. */
export interface FollowLease {
  readonly owner: string;
  readonly now: number;
  readonly until: number;
}

/** A followed act as one process has taken it. */
export interface TakenAct extends FollowedAct {
  /** When it was looked at last; epoch milliseconds. */
  readonly lookedAt: number;
}

/** What was done to servers and is followed until they have settled, by any process; gone when that has been sent. */
export interface FollowedActs {
  /**
   * Adds a server to the act, which is looked at from `dueAt` on. Once for each act and server; what earlier acts do to the
   * same server is superseded.
   */
  add(
    act: StartedAct,
    server: FollowedServer,
    times: { readonly now: number; readonly dueAt: number },
  ): Promise<void>;
  /** Ends what earlier actions on the server are followed for, after one that needs no following. */
  supersede(act: Omit<StartedAct, 'keyGeneration'>, serverId: ServerId): Promise<void>;
  /** Stores where the action was announced, and how: it is looked at from `dueAt` on. */
  place(id: string, place: ActPlace, times: { readonly now: number; readonly dueAt: number }): Promise<void>;
  /** Stops following an action that no process has taken yet. */
  forget(id: string): Promise<void>;
  /** Leases up to `limit` acts that are due; they are due again when the lease ends. */
  take(lease: FollowLease, limit: number): Promise<readonly TakenAct[]>;
  /** Stores what was seen and reported, and when it is due again. False if another process has taken it since. */
  save(act: FollowedAct, lease: FollowLease, dueAt: number): Promise<boolean>;
  /** Ends the following. False if another process has taken it since. */
  end(id: string, owner: string): Promise<boolean>;
  /** Lets other processes take what this one has leased. */
  release(owner: string): Promise<void>;
}

/** The channel's messages about acts, so that any process can edit them. */
export interface ActMessages {
  put(id: string, workspaceId: WorkspaceId, message: Card, until: number): Promise<void>;
  find(id: string): Promise<Card | undefined>;
  remove(id: string): Promise<void>;
  removeExpired(now: number): Promise<void>;
}
