import type { Log } from '../../log.ts';
import type { System } from '../../system.ts';
import type { ApiKeys, Workspaces } from '../account/ports.ts';
import type { AccountRecognition } from '../account/recognize-account.ts';
import type { Approvals } from '../approvals/ports.ts';
import type { RolePorts } from '../authorize/find-roles.ts';
import type { SeenRequests } from '../authorize/ports.ts';
import type { Accounts, FindHosting } from '../hosting-api.ts';
import type { Locks } from '../locks.ts';
import type { NotifyPorts } from './notifier-port.ts';
import type { LeasePorts, Ledger, Spill } from './ports.ts';

/** What it takes to reach the hosting account that was connected when something was confirmed. */
export interface AccountPorts {
  readonly apiKeys: Pick<ApiKeys, 'find'>;
  readonly hostingOf: FindHosting;
  readonly accounts: Pick<Accounts, 'find'>;
}

/** What it takes to carry out a confirmed purchase. */
export interface PaymentPorts extends NotifyPorts, AccountPorts, RolePorts {
  readonly system: System;
  readonly workspaces: Pick<Workspaces, 'find'>;
  readonly approvals: Pick<Approvals, 'find'>;
  readonly log: Pick<Log, 'warn' | 'error'>;
  readonly spill: Pick<Spill, 'write' | 'remove'>;
  readonly seenRequests: Pick<SeenRequests, 'addFirst'>;
  readonly ledger: NotifyPorts['ledger'] &
    LeasePorts['ledger'] &
    Pick<
      Ledger,
      | 'findCreateOf'
      | 'hasNewer'
      | 'listRenewals'
      | 'listSettledIds'
      | 'listUnresolvedCreates'
      | 'readVersions'
      | 'sumSpent'
      | 'markSent'
      | 'settle'
      | 'keepAnswer'
      | 'refuse'
      | 'markUnconfirmed'
      | 'markNeedsDecision'
    > &
    ResolvePorts['ledger'];
  readonly settings: ResolvePorts['settings'];
  readonly accountRecognition: Pick<AccountRecognition, 'recognize'>;
  /** Creates of one account are sent one at a time (docs/design.md 4.3). */
  readonly locks: Locks;
}

/** What it takes to look for an unconfirmed operation. */
export interface ResolvePorts extends AccountPorts {
  readonly system: Pick<System, 'now'>;
  readonly accountRecognition: Pick<AccountRecognition, 'recognize'>;
  readonly ledger: Pick<
    Ledger,
    | 'addLooked'
    | 'hasNewer'
    | 'listMakers'
    | 'listRenewals'
    | 'listSettledIds'
    | 'listUnresolvedCreates'
    | 'settle'
    | 'markNeedsDecision'
  >;
  readonly settings: {
    /** After so many milliseconds of looking for it, an unconfirmed operation is left to a manager, too. */
    readonly unconfirmedMs: number;
  };
}
