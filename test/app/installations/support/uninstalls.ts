import { onTestFinished } from 'vitest';
import { noteRevocation, sweepRevocations } from '../../../../src/app/installations/confirm-revocation.ts';
import { eraseByHand } from '../../../../src/app/installations/erase-by-hand.ts';
import { createInstalledWorkspaces } from '../../../../src/app/installations/installed-workspaces.ts';
import type { InstallationPorts } from '../../../../src/app/installations/ports.ts';
import { createTokenRotation } from '../../../../src/app/installations/rotate-tokens.ts';
import { createLocks, type LockOwner } from '../../../../src/app/locks.ts';
import type { Store } from '../../../../src/app/ports.ts';
import { Refusal } from '../../../../src/domain/errors.ts';
import type { BotTokens, Installation } from '../../../../src/domain/installation.ts';
import { Secret } from '../../../../src/domain/secret.ts';
import { HOUR_MS } from '../../../../src/domain/time.ts';
import { type Log, silentLog } from '../../../../src/log.ts';
import { movableSystem } from '../../../support/movable-system.ts';
import { RotatingSlack } from './rotating-slack.ts';

/** What a workspace has that an uninstall erases. */
const KEY = new Secret('the API key');

/** One installation with an API key, in a store that processes share; `leftMs`: how long its token is still good. */
export async function setUpUninstalls(make: () => Promise<Store>, leftMs = -HOUR_MS) {
  const system = movableSystem();
  const store = await make();
  const slack = new RotatingSlack(system);
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (words) => void warnings.push(words) };
  const install = (tokens: BotTokens, id = 'T1') =>
    store.installationStore.install(
      { id, isOrg: false, name: id, installedBy: 'U1', installedAt: system.now(), scopes: [], tokens },
      () => [],
    );
  await install(slack.issue(leftMs));
  await store.apiKeys.put('T1', KEY, 'U1', system.now());
  const shared = { store, system, slack, log };
  return {
    ...shared,
    warnings,
    install,
    start: (fault: Fault = {}) => startProcess(shared, fault),
    /** The installation; fails if it was erased. */
    find: async (): Promise<Installation> => {
      const found = await store.installationStore.find('T1');
      if (!found) throw new Error('the installation was erased');
      return found;
    },
    /** Whether what an uninstall erases is still there. */
    isKept: async () => {
      const [token, key] = [await store.installationStore.find('T1'), await store.apiKeys.find('T1')];
      if ((token === undefined) !== (key === undefined)) throw new Error('it was erased in part');
      return token !== undefined;
    },
  };
}

interface Shared {
  readonly store: Store;
  readonly system: ReturnType<typeof movableSystem>;
  readonly slack: RotatingSlack;
  readonly log: Log;
}

interface Fault {
  /** An installation whose row can't be read. */
  readonly unreadable?: string;
}

/** A process of the app. */
function startProcess({ store, system, slack, log }: Shared, { unreadable }: Fault) {
  const held = new Map<string, LockOwner>();
  const leases = {
    ...store.lockLeases,
    take: async (lock: LockOwner, leaseMs: number) => {
      const isTaken = await store.lockLeases.take(lock, leaseMs);
      if (isTaken) held.set(lock.name, lock);
      return isTaken;
    },
  };
  const ports: InstallationPorts = {
    installationStore: {
      ...store.installationStore,
      find: async (id) => {
        if (id === unreadable) throw new Refusal('key_unreadable', { keyId: 'lost' });
        return store.installationStore.find(id);
      },
    },
    tokenService: slack.service,
    allowedWorkspaces: [],
    locks: createLocks({ leases, system, log: silentLog }),
    system,
    log,
  };
  return {
    rotation: createTokenRotation(ports),
    workspaces: createInstalledWorkspaces(ports),
    /** An event says that the app was uninstalled. */
    hear: (at = system.now()) => noteRevocation(['T1'], at, ports),
    sweep: () => sweepRevocations(ports),
    eraseByHand: () => eraseByHand('T1', ports),
    /** What becomes of the locks of a process that is dead, or stands still: their time runs out. */
    loseLocks: async () => {
      for (const lock of held.values()) await store.lockLeases.release(lock);
    },
  };
}

/** Holds a process up at a point, as when its machine stands still, until it is let go on. */
export function createStop() {
  let arrive = (): void => undefined;
  let letGo = (): void => undefined;
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const released = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  onTestFinished(() => letGo());
  return {
    arrived,
    letGo: () => letGo(),
    wait: async () => {
      arrive();
      await released;
    },
  };
}
