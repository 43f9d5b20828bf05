import type { Grants } from './access/grant-store.ts';
import type { Channels } from './access/grants.ts';
import type { AccountNotifier, ConnectLinks } from './account/connect.ts';
import type { ApiKeys } from './account/keys.ts';
import type { Workspaces } from './account/workspaces.ts';
import type { AdminList, Groups, Installations, Users } from './core/directory.ts';
import type { UserId, WorkspaceId } from './core/ids.ts';
import type { LockLeases, Locks } from './core/locks.ts';
import type { AuditLog } from './db/audit-log.ts';
import type { Engine } from './db/engine.ts';
import type { JobStore, Jobs } from './db/jobs.ts';
import type { Kept, ReplyUrls, SeenRequests } from './db/kept.ts';
import type { Counts } from './db/open-store.ts';
import type { LastLists } from './home/read-home.ts';
import type { HomeRedraw, Homes } from './home/redraw.ts';
import type { ApiCalls, FindHosting } from './hosting/hosting-api.ts';
import type { InstallationStore } from './installations/store.ts';
import type { Log } from './log.ts';
import type { Ledger } from './purchases/ledger.ts';
import type { OperationNotifier } from './purchases/outcomes.ts';
import type { Passwords } from './purchases/password-store.ts';
import type { Spill } from './purchases/spill.ts';
import type { RenewalBatches } from './reminders/batch.ts';
import type { ReminderNotifier } from './reminders/digest-message.ts';
import type { BatchNotifier } from './reminders/renew-all.ts';
import type { Digests, Reminders } from './reminders/store.ts';
import type { RequestNotifier } from './requests/notify.ts';
import type { Requests } from './requests/store.ts';
import type { SealedTexts } from './sealed.ts';
import type { DeleteNotifier } from './servers/deletion.ts';
import type { FollowNotifier } from './servers/follow.ts';
import type { FollowedActs } from './servers/follow-store.ts';
import type { ServerNotes } from './servers/notes.ts';
import type { ChannelTest, SlackAbilities } from './slack/abilities.ts';
import type { System } from './system.ts';
import type { WorkflowNotifier } from './workflows/card.ts';
import type { WorkflowKeys, WorkflowRuns } from './workflows/store.ts';

/** Everything that is stored, by feature. */
export interface Store {
  readonly workspaces: Workspaces;
  readonly apiKeys: ApiKeys;
  readonly grants: Grants;
  readonly requests: Requests;
  readonly ledger: Ledger;
  readonly passwords: Passwords;
  readonly spill: Spill;
  readonly audit: AuditLog;
  readonly connectLinks: ConnectLinks;
  readonly seenRequests: SeenRequests;
  readonly serverNotes: ServerNotes;
  readonly homes: Homes;
  readonly digests: Digests;
  readonly reminders: Reminders;
  readonly renewalBatches: RenewalBatches;
  readonly followedActs: FollowedActs;
  readonly workflowKeys: WorkflowKeys;
  readonly workflowRuns: WorkflowRuns;
  readonly replyUrls: ReplyUrls;
  readonly kept: Kept;
  readonly apiCalls: ApiCalls;
  readonly lockLeases: LockLeases;
  readonly jobStore: JobStore;
  /** The clock that all processes on the store share, and IDs in its order. */
  readonly clock: Engine['clock'];
  readonly installationStore: InstallationStore;
  readonly sealed: SealedTexts;
  /** Notes for the operator about the database as it was found, a sentence each. */
  readonly notes: readonly string[];
  /** Counts what is stored, for `/metrics`. */
  counts(): Promise<Counts>;
  /** Writes to the database and reads it back, for `/readyz`. Rejects if that fails. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Everything that use cases need from outside; `app.ts` puts it together. */
export interface AppContext extends Store {
  readonly system: System;
  readonly log: Log;
  readonly installations: Installations;
  readonly users: Users;
  readonly groups: Groups;
  readonly admins: AdminList;
  readonly channels: Channels;
  readonly channelTest: ChannelTest;
  readonly slackAbilities: SlackAbilities;
  readonly operationNotifier: OperationNotifier;
  readonly deleteNotifier: DeleteNotifier;
  readonly followNotifier: FollowNotifier;
  readonly requestNotifier: RequestNotifier;
  readonly accountNotifier: AccountNotifier;
  readonly reminderNotifier: ReminderNotifier;
  readonly batchNotifier: BatchNotifier;
  readonly homeRedraw: HomeRedraw;
  readonly workflowNotifier: WorkflowNotifier;
  readonly jobs: Jobs;
  /** Creates of one account are sent one at a time (docs/design.md 4.3). */
  readonly locks: Locks;
  readonly hostingOf: FindHosting;
  readonly lastLists: LastLists;
  /** The owners of a workspace that the operator named (`OWNERS`). */
  readonly ownersOf: (workspaceId: WorkspaceId) => readonly UserId[];
  readonly settings: {
    /** How long an unconfirmed operation is looked for before a manager has to decide, too (`DOUBT_MINUTES`). */
    readonly unconfirmedMs: number;
    readonly passwordHoldMs: number;
    /** Undefined to keep audit entries forever. */
    readonly auditKeepDays: number | undefined;
  };
}
