import type { UserId, WorkspaceId } from './core/ids.ts';
import type { createTurns } from './core/promises.ts';
import type { Jobs } from './db/jobs.ts';
import type { assembleStore } from './db/open-store.ts';
import type { LastLists } from './home/read-home.ts';
import type { FindHosting } from './hosting/hosting-api.ts';
import type { Log } from './log.ts';
import type { AdminList, Channels, Groups, Users } from './slack/directory.ts';
import type { Outbox } from './slack/outbox.ts';
import type { SetupProblems } from './slack/refusals.ts';
import type { createNotifiers } from './slack-app.ts';
import type { System } from './system.ts';

/** Everything that is stored, by feature. */
export interface Store extends ReturnType<typeof assembleStore> {
  /** Notes for the operator about the database as it was found, a sentence each. */
  readonly notes: readonly string[];
  close(): Promise<void>;
}

/** Everything that use cases need from outside; `app.ts` puts it together. */
export interface AppContext extends Store, ReturnType<typeof createNotifiers> {
  readonly system: System;
  readonly log: Log;
  readonly installations: Installations;
  readonly users: Users;
  readonly groups: Groups;
  readonly admins: AdminList;
  readonly channels: Channels;
  readonly postOnce: Outbox['postOnce'];
  readonly setupProblems: SetupProblems;
  readonly jobs: Jobs;
  /** Creates of one account take turns in this process (docs/design.md 4.3). */
  readonly takeTurn: ReturnType<typeof createTurns>;
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

/** The workspaces that the app is installed in. */
export interface Installations {
  /**
   * Whether the app is installed in the workspace; false after an uninstall. Undefined while Slack has not said which
   * workspace `SLACK_BOT_TOKEN` is for.
   */
  isServed(workspaceId: WorkspaceId): Promise<boolean | undefined>;
  /** Whether Slack refuses to renew the app's token: it then stops working within hours, until the app is installed again. */
  needsInstall?(workspaceId: WorkspaceId): Promise<boolean>;
}
