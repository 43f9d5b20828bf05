import type { Store } from '../../context.ts';
import type { StoredEntry } from '../../core/audit-entry.ts';
import { isEnded, type Operation } from '../../purchases/operation.ts';
import type { Account } from '../hosting/accounts.ts';
import type { HostingService } from '../hosting/hosting.ts';
import type { MoneyEntry, RequestEntry } from '../hosting/journal.ts';
import type { StepId } from './steps.ts';

/** What a step is checked against: the records of the hosting service and of the app, never clicks. */
export interface Evidence {
  readonly hosting: HostingService;
  readonly account: Account;
  readonly store: Store;
  readonly workspaceId: string;
  /** The app's API key of its workspace; it is only compared. */
  findAppKey(): Promise<string | undefined>;
  /** Whether the local Slack showed a user the root password of this server. */
  hasShownPassword(userId: string, serverId: number): boolean;
}

/** Whether each step has really happened. */
export const STEP_CHECKS: Readonly<Record<StepId, (evidence: Evidence) => Promise<boolean>>> = {
  connect: isConnected,
  create: hasCreated,
  reboot: (evidence) => hasChanged('reboot', evidence),
  lose: hasLost,
  delete: (evidence) => hasChanged('delete', evidence),
};

const ENTRIES_READ = 200;

/** The workspace has an API key, and it opens this account. */
async function isConnected({ hosting, account, findAppKey }: Evidence): Promise<boolean> {
  const key = await findAppKey();
  const opened = key === undefined ? undefined : hosting.accounts.findByKey(key);
  return opened?.id === account.id && hosting.accounts.isOpen(account);
}

/** A create was charged and settled, and its root password was shown to or saved by its creator. */
async function hasCreated(evidence: Evidence): Promise<boolean> {
  const { hosting, account, store, workspaceId } = evidence;
  const entries = await listAudit(evidence);
  for (const { serverId } of hosting.charges(account).toReversed()) {
    if (serverId === undefined) continue;
    const operation = await store.ledger.findCreateOf(workspaceId, serverId);
    if (!operation?.hasPassword) continue;
    const isSaved = entries.some(
      ({ action, outcome, operationId }) =>
        action === 'password_saved' && outcome === 'done' && operationId === operation.id,
    );
    if (isSaved || evidence.hasShownPassword(operation.actorId, serverId)) return true;
  }
  return false;
}

/** Both the service and the app have recorded it as done. */
async function hasChanged(operation: 'reboot' | 'delete', evidence: Evidence): Promise<boolean> {
  const { hosting, account } = evidence;
  const requests = hosting.requests({ accountId: account.id, operation, didWork: true });
  if (requests.length === 0) return false;
  const entries = await listAudit(evidence);
  return entries.some(
    ({ action, outcome, serverId }) =>
      action === operation &&
      outcome === 'done' &&
      serverId !== undefined &&
      requests.some((request) => request.serverId === serverId),
  );
}

/** An order was carried out and its answer lost; the operation has ended, and there is exactly one charge. */
async function hasLost(evidence: Evidence): Promise<boolean> {
  const { hosting, account, store } = evidence;
  const lost = (['create', 'renew'] as const)
    .flatMap((operation) => hosting.requests({ accountId: account.id, operation, didWork: true }))
    .filter(({ fault }) => fault === 'lost_after' || fault === 'hang');
  if (lost.length === 0) return false;
  const doubts = (await listAudit(evidence)).filter(({ outcome }) => outcome === 'in_doubt');
  const operations = await Promise.all(
    doubts.map(({ operationId }) => operationId && store.ledger.find(operationId)),
  );
  const ended = operations.filter((operation) => operation && isEnded(operation));
  return lost.some((request) => {
    const charges = findChargesOf(request, hosting.charges(account));
    return charges.length === 1 && ended.some((operation) => operation && isOf(operation, request, charges));
  });
}

/** The charge of a request and every later one for the very same thing. */
function findChargesOf(request: RequestEntry, charges: readonly MoneyEntry[]): readonly MoneyEntry[] {
  const later = charges.filter(({ id }) => id > request.id);
  const own = later.find(({ serverId }) => serverId === request.serverId);
  return later.filter(({ what }) => what === own?.what);
}

/** Sent at most this long before it arrived: the app commits, then sends. */
const MAX_TRANSIT_MS = 30_000;

function isOf(operation: Operation, request: RequestEntry, charges: readonly MoneyEntry[]): boolean {
  const { purchase, sentAt = Number.NEGATIVE_INFINITY, serverId } = operation;
  const transitMs = request.realAtMs - sentAt;
  if (purchase.kind !== request.operation || transitMs < 0 || transitMs > MAX_TRANSIT_MS) return false;
  if (purchase.kind === 'renew') return purchase.serverId === request.serverId;
  if (operation.state === 'settled') return serverId === request.serverId;
  return charges[0]?.what === `create ${purchase.order.label} (${purchase.order.plan})`;
}

function listAudit({ store, workspaceId }: Evidence): Promise<readonly StoredEntry[]> {
  return store.audit.list({ workspaceId, limit: ENTRIES_READ });
}
