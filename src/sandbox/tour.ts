import type { Store } from '../context.ts';
import type { StoredEntry } from '../core/audit-entry.ts';
import { Refusal } from '../core/errors.ts';
import type { Operation } from '../purchases/operation.ts';
import type { Account } from './hosting/accounts.ts';
import type { HostingService } from './hosting/hosting.ts';
import type { MoneyEntry, RequestEntry } from './hosting/journal.ts';
import type { TourStep } from './panel/panel-api.ts';
import { TEAM } from './slack/workspace.ts';

/** The guided tour: five steps, each complete once it has really happened. */
export function createTour(evidence: Evidence, onDone: (step: StepId) => unknown) {
  const done = new Set<StepId>();
  return {
    steps: (): readonly TourStep[] => STEPS.map((step) => ({ ...step, isDone: done.has(step.id) })),

    async check(): Promise<void> {
      for (const { id } of STEPS) {
        if (done.has(id) || !(await STEP_CHECKS[id](evidence))) continue;
        done.add(id);
        onDone(id);
      }
    },
  };
}

const STEPS: readonly Pick<TourStep, 'id' | 'title' | 'words'>[] = [
  {
    id: 'connect',
    title: 'Connect the hosting account',
    words: 'Create an API key here and copy it. Then run `/vps connect`, open the link and paste the key.',
  },
  {
    id: 'create',
    title: 'Create a server',
    words:
      'Run `/vps create`, make your choices and press *Create and pay*. You get the root password in a message that only you can see.',
  },
  {
    id: 'reboot',
    title: 'Reboot it from an alert',
    words:
      'An alert about your server has arrived in #ops. Choose *Manage server…* in its ⋮ menu and press *Reboot*, as you would on your phone when on call. `/vps reboot` with the label works, too.',
  },
  {
    id: 'lose',
    title: 'Survive a lost response',
    words:
      'Switch on *Drop the next response (the order still goes through)*, then run `/vps create` or `/vps renew` again. The app says that it isn’t sure, checks, and reports back. You’re charged only once.',
  },
  {
    id: 'delete',
    title: 'Delete it',
    words: 'Run `/vps delete` with the label. You’ll see what will be lost, and confirm by typing the label.',
  },
];

type StepId = TourStep['id'];

/** What a step is checked against: the records of the hosting service and of the app, never clicks. */
interface Evidence {
  readonly hosting: HostingService;
  readonly account: Account;
  readonly store: Store;
}

const STEP_CHECKS: Readonly<Record<StepId, (evidence: Evidence) => Promise<boolean>>> = {
  connect: isConnected,
  create: hasCreated,
  reboot: (evidence) => hasChanged('reboot', evidence),
  lose: hasLost,
  delete: (evidence) => hasChanged('delete', evidence),
};

const ENTRIES_READ = 200;

/** The workspace has an API key, and it opens this account. */
async function isConnected({ hosting, account, store }: Evidence): Promise<boolean> {
  const key = await findAppKey(store);
  const opened = key === undefined ? undefined : hosting.accounts.findByKey(key);
  return opened?.id === account.id && hosting.accounts.isOpen(account);
}

/** Finds the app's API key; one that can't be decrypted counts as none. */
export async function findAppKey(store: Store): Promise<string | undefined> {
  try {
    return (await store.apiKeys.find(TEAM.id))?.key.reveal();
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** A create was charged, and its root password has arrived: what the app shows its creator next. */
async function hasCreated({ hosting, account, store }: Evidence): Promise<boolean> {
  for (const { serverId } of hosting.charges(account).toReversed()) {
    const created = serverId === undefined ? undefined : await store.ledger.findCreated(TEAM.id, serverId);
    if (created && (await store.ledger.find(created.operationId))?.hasPassword) return true;
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
  return lost.some(
    (request) =>
      findChargesOf(request, hosting.charges(account)).length === 1 &&
      operations.some(
        (operation) => operation && isEnded(operation) && serverIdOf(operation) === request.serverId,
      ),
  );
}

const isEnded = ({ state }: Operation) => state === 'settled' || state === 'refused';

const serverIdOf = ({ purchase, serverId }: Operation) =>
  purchase.kind === 'renew' ? purchase.serverId : serverId;

/** The charge of a request and every later one for the very same thing. */
function findChargesOf(request: RequestEntry, charges: readonly MoneyEntry[]): readonly MoneyEntry[] {
  const later = charges.filter(({ id }) => id > request.id);
  const own = later.find(({ serverId }) => serverId === request.serverId);
  return later.filter(({ what }) => what === own?.what);
}

function listAudit({ store }: Evidence): Promise<readonly StoredEntry[]> {
  return store.audit.list({ workspaceId: TEAM.id, limit: ENTRIES_READ });
}
