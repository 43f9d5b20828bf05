import type { Secret } from '../domain/secret.ts';
import type { Log } from '../log.ts';
import type { System } from '../system.ts';
import type { Channels, Groups, Users } from './access/ports.ts';
import type { Mutex } from './mutex.ts';
import type { HostingApi, Notifier, Store } from './ports.ts';

/** What the use cases work with; put together in `compose.ts`, by tests with fakes of the outer two. */
export interface Services {
  readonly system: System;
  readonly log: Log;
  readonly store: Store;
  readonly users: Users;
  readonly groups: Groups;
  readonly channels: Channels;
  readonly notifier: Notifier;
  /** Creates of one account run one at a time (DESIGN 4.3). */
  readonly mutex: Mutex;
  /** The client of the account behind a key. */
  hostingOf(key: Secret<string>): HostingApi;
  readonly settings: {
    /** Slack ids that are owners from the start (`OWNERS`). */
    readonly owners: readonly string[];
    readonly doubtMs: number;
    readonly passwordHoldMs: number;
    /** Undefined: the audit is kept for ever. */
    readonly auditKeepDays: number | undefined;
  };
}
