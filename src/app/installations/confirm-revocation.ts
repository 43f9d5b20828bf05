import type { InstallationId } from '../../domain/ids.ts';
import type { Installation } from '../../domain/installation.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import type { HeldLock } from '../locks.ts';
import { auditOfErasure } from './audit-of-install.ts';
import type { InstallationPorts, TokenVerdict } from './ports.ts';
import { renewalLock } from './rotate-tokens.ts';

type Ports = Pick<InstallationPorts, 'installationStore' | 'tokenService' | 'locks' | 'system' | 'log'>;

/** How far our clock and Slack's may be apart. */
const CLOCKS_APART_MS = 5 * MINUTE_MS;

/**
 * An event said that the app was uninstalled, or its token revoked. It is written down first, so that a crash forgets
 * nothing, and then checked: events come late, and more than once.
 */
export async function noteRevocation(
  ids: readonly InstallationId[],
  revokedAt: number,
  ports: Ports,
): Promise<void> {
  for (const id of ids) {
    await ports.installationStore.noteRevocation(id, revokedAt);
    await settleRevocation(id, revokedAt, ports);
  }
}

/** Checks what could not be checked when the event came. */
export async function sweepRevocations(ports: Ports): Promise<void> {
  for (const { id, revokedAt } of await ports.installationStore.listRevocations())
    await settleRevocation(id, revokedAt, ports);
}

/**
 * Erases what is stored if the very token that is stored does not work any more, and forgets the event if it does. While
 * Slack doesn't say, it stays due.
 */
async function settleRevocation(id: InstallationId, revokedAt: number, ports: Ports): Promise<void> {
  // A renewal at the same time would use up the refresh token, which would look like a revocation.
  await ports.locks.run(renewalLock(id), (lock) => settle(id, revokedAt, lock, ports));
}

async function settle(id: InstallationId, revokedAt: number, lock: HeldLock, ports: Ports): Promise<void> {
  const { installationStore, log } = ports;
  const installation = await installationStore.find(id);
  if (!installation) return;
  const isEarlier = revokedAt + CLOCKS_APART_MS < installation.installedAt;
  const verdict = isEarlier ? 'works' : await judge(installation, lock, ports);
  if (verdict === 'unknown' || verdict === 'expired') return;
  if (verdict === 'works') {
    log.info('an event about an earlier install was ignored', { installation: id });
    return installationStore.dropRevocation(id, revokedAt);
  }
  const isErased = await installationStore.erase(installation, auditOfErasure(ports));
  if (isErased) log.warn('uninstalled: what was stored is erased', { installation: id });
}

/** A token that has expired says nothing: whether it can be renewed does. */
async function judge(installation: Installation, lock: HeldLock, ports: Ports): Promise<TokenVerdict> {
  const { tokens } = installation;
  const verdict = await ports.tokenService.test(tokens.bot);
  if (verdict !== 'expired' || !tokens.rotation) return verdict;
  if (!lock.isHeld()) return 'unknown';
  const outcome = await ports.tokenService.refresh(tokens.rotation.refreshToken);
  if (outcome.kind !== 'renewed') return outcome.kind === 'refused' ? 'revoked' : 'unknown';
  await ports.installationStore.replaceTokens(installation, outcome.tokens);
  return 'works';
}
