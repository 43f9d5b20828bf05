import type { HostingError, Refusal } from '../core/errors.ts';
import type { ChannelId, ServerId, UserId, WorkspaceId } from '../core/ids.ts';
import type { Server } from '../core/server.ts';
import type { DigestSettings } from '../core/settings.ts';
import type { Operation } from '../purchases/operation.ts';
import type { Card } from '../requests/request.ts';
import type { Digest, DigestContent, ReminderMark } from './reminder.ts';

/** A workspace in which a digest is set up. */
export interface DigestWorkspace {
  readonly workspaceId: WorkspaceId;
  readonly digest: DigestSettings;
}

/** The servers of an account at a moment, from a complete list. */
export interface Snapshot {
  readonly account: string;
  readonly at: number;
  readonly servers: readonly Pick<Server, 'id' | 'label' | 'state' | 'paidUntil'>[];
}

/** The newest digest of a workspace, whose message is edited. */
export interface LiveDigest {
  readonly workspaceId: WorkspaceId;
  readonly day: string;
  readonly card: Card;
  readonly content: DigestContent;
  readonly postedAt: number;
}

/** Which digests were posted. A day is one of the digest's time zone. */
export interface Digests {
  /** A page of the workspaces with a digest channel: those after this ID, in the order of their IDs; none after the last. */
  listWorkspaces(after?: WorkspaceId): Promise<readonly DigestWorkspace[]>;
  /** Claims the workspace's one digest of that day, durably. False when it was claimed before, by any process. */
  claim(workspaceId: WorkspaceId, day: string, at: number): Promise<boolean>;
  isClaimed(workspaceId: WorkspaceId, day: string): Promise<boolean>;
  /** Gives the claim back: Slack has said that nothing was posted. */
  release(workspaceId: WorkspaceId, day: string): Promise<void>;
  /** The claimed digest had nothing to tell; without `isRead`, since the servers could not be read. */
  endQuietly(
    workspaceId: WorkspaceId,
    day: string,
    ended: { readonly isRead: boolean; readonly snapshot?: Snapshot | undefined },
  ): Promise<void>;
  /** The claimed digest was posted: from now on it is the workspace's live one. Returns the one before it, if that was live. */
  markPosted(digest: LiveDigest, snapshot: Snapshot | undefined): Promise<LiveDigest | undefined>;
  findLive(workspaceId: WorkspaceId): Promise<LiveDigest | undefined>;
  /** When the last digest was read that is known to have been posted, or to have had nothing to tell. */
  findLastAt(workspaceId: WorkspaceId): Promise<number | undefined>;
  findSnapshot(workspaceId: WorkspaceId): Promise<Snapshot | undefined>;
  /** It is not edited any more. */
  close(workspaceId: WorkspaceId, day: string): Promise<void>;
  removeBefore(at: number): Promise<void>;
}

/** What was last paid for a server with this app. */
export interface PaidPrice {
  readonly serverId: ServerId;
  readonly operation: Operation;
}

/** What users decided about reminders, and what the ledger says about the months in question. */
export interface Reminders {
  putMark(workspaceId: WorkspaceId, mark: ReminderMark): Promise<void>;
  /** False when there is none about this month. */
  removeMark(workspaceId: WorkspaceId, serverId: ServerId, paidUntil: number): Promise<boolean>;
  listMarks(workspaceId: WorkspaceId): Promise<readonly ReminderMark[]>;
  removeMarksBefore(paidUntil: number): Promise<void>;
  /** Renewals of these servers, other than refused ones; the newest last. */
  listRenewals(workspaceId: WorkspaceId, serverIds: readonly ServerId[]): Promise<readonly Operation[]>;
  /** The newest settled purchase of each of these servers whose price is known. */
  listPrices(workspaceId: WorkspaceId, serverIds: readonly ServerId[]): Promise<readonly PaidPrice[]>;
}

export type PostedDigest =
  | { readonly kind: 'posted'; readonly card: Card }
  /** Nothing was posted; `reason` is Slack's error code. `retryAfterMs`: there were too many messages, and Slack says when to try again. */
  | { readonly kind: 'refused'; readonly reason: string; readonly retryAfterMs?: number }
  /** Slack did not answer, or not readably: it may have been posted. */
  | { readonly kind: 'unknown' };

/** Posts digests and edits them. No method throws. */
export interface ReminderNotifier {
  /** Not where other organizations could read it: `channel_is_shared`, or `channel_unreadable` if Slack does not say. */
  post(workspaceId: WorkspaceId, channelId: ChannelId, digest: Digest): Promise<PostedDigest>;
  /** Tells the channel why there is no digest today. */
  postUnreadable(
    workspaceId: WorkspaceId,
    channelId: ChannelId,
    error: HostingError | Refusal,
  ): Promise<PostedDigest>;
  /** `gone`: the message was deleted, or the app can no longer edit it. */
  update(
    workspaceId: WorkspaceId,
    card: Card,
    digest: Digest,
    options?: { readonly isOver: boolean },
  ): Promise<'shown' | 'gone' | 'failed'>;
  /** Tells owners that the digest could not be posted, and why. */
  notifyUndelivered(
    workspaceId: WorkspaceId,
    channelId: ChannelId,
    reason: string,
    owners: readonly UserId[],
  ): Promise<void>;
}
