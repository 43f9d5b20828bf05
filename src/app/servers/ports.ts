import type { Log } from '../../log.ts';
import type { System } from '../../system.ts';
import type { AuditLog, Workspaces } from '../account/ports.ts';
import type { SeenRequests } from '../authorize/ports.ts';
import type { Ledger } from '../purchases/ports.ts';

/** What the use cases about servers need from outside, besides the hosting API. */
export interface ServerPorts {
  readonly log: Log;
  readonly system: Pick<System, 'now'>;
  readonly seenRequests: Pick<SeenRequests, 'addFirst'>;
  readonly workspaces: Pick<Workspaces, 'find'>;
  readonly ledger: Pick<Ledger, 'listOfServer'>;
  readonly audit: Pick<AuditLog, 'list'>;
}
