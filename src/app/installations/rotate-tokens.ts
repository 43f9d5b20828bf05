import type { InstallationId } from '../../domain/ids.ts';
import type { Installation } from '../../domain/installation.ts';
import { HOUR_MS, MINUTE_MS } from '../../domain/time.ts';
import type { InstallationPorts } from './ports.ts';
import { useRefreshToken } from './use-refresh-token.ts';

/** Slack's tokens live for twelve hours: there is time to try again. */
const AHEAD_MS = 2 * HOUR_MS;
/** How long to wait after Slack did not answer. */
const RETRY_MS = MINUTE_MS;

type Ports = Pick<InstallationPorts, 'installationStore' | 'tokenService' | 'locks' | 'system' | 'log'>;

/** Renews bot tokens that expire, when they are used. */
export interface TokenRotation {
  /** The installation with a token that works, as far as it can have one. */
  renewed(installation: Installation): Promise<Installation>;
  /** Resolves when no renewal is running: a refresh token whose answer is lost is lost, too. */
  drain(): Promise<void>;
}

/** Makes it. One renewal at a time for each installation, over all processes that share the store. */
export function createTokenRotation(ports: Ports): TokenRotation {
  const { system } = ports;
  const running = new Map<string, Promise<Installation>>();
  /** Only of installations whose renewal has failed. */
  const retryAt = new Map<string, number>();
  const renew = (installation: Installation): Promise<Installation> => {
    const { id } = installation;
    const known = running.get(id);
    if (known) return known;
    const work = renewOnce(installation, ports)
      .catch((error: unknown) => {
        ports.log.error('a token could not be renewed', { installation: id, cause: nameOf(error) });
        return undefined;
      })
      .then((renewed) => {
        if (renewed) retryAt.delete(id);
        else retryAt.set(id, system.elapsed() + RETRY_MS);
        return renewed ?? installation;
      })
      .finally(() => running.delete(id));
    running.set(id, work);
    return work;
  };
  return {
    renewed: async (installation) => {
      const { rotation } = installation.tokens;
      if (!rotation || installation.isRefreshRefused) return installation;
      const leftMs = rotation.expiresAt - system.now();
      if (leftMs > AHEAD_MS) return installation;
      if ((retryAt.get(installation.id) ?? 0) > system.elapsed()) return installation;
      const work = renew(installation);
      // The token still works: no request waits for the next one.
      return leftMs > MINUTE_MS ? installation : work;
    },
    drain: async () => {
      await Promise.all(running.values());
    },
  };
}

/**
 * A refresh token works once. If its answer gets lost, Slack refuses it from then on: that is written down, and only
 * another install helps. Undefined when it is to be tried again.
 */
async function renewOnce(seen: Installation, ports: Ports): Promise<Installation | undefined> {
  return ports.locks.run(renewalLock(seen.id), async (lock) => {
    const installation = await ports.installationStore.find(seen.id);
    if (!installation || !isSame(installation, seen)) return installation ?? seen;
    if (!installation.tokens.rotation || installation.isRefreshRefused) return installation;
    return useRefreshToken(installation, lock, ports);
  });
}

/** A process that uses a refresh token holds this. */
export function renewalLock(id: InstallationId): string {
  return `renew token ${id}`;
}

/** Another process may have renewed it, or the app was installed again. */
function isSame(now: Installation, seen: Installation): boolean {
  return (
    now.generation === seen.generation && now.tokens.rotation?.expiresAt === seen.tokens.rotation?.expiresAt
  );
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}
