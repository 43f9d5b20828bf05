import { describeDefect } from '../../domain/errors.ts';
import type { InstallationId } from '../../domain/ids.ts';
import type { Installation } from '../../domain/installation.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import type { LockOwner } from '../locks.ts';
import { auditOfErasure } from './audit-of-install.ts';
import type { InstallationPorts, TokenVerdict } from './ports.ts';
import { renewalLock } from './rotate-tokens.ts';
import { useRefreshToken } from './use-refresh-token.ts';

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
  for (const id of ids) await ports.installationStore.noteRevocation(id, revokedAt);
  for (const id of ids) await settleRevocation(id, revokedAt, ports);
}

/** Checks what could not be checked when the event came. */
export async function sweepRevocations(ports: Ports): Promise<void> {
  const { installationStore, system, log } = ports;
  for (const { id, revokedAt } of await installationStore.listRevocations()) {
    // Before the check, so that an uninstall that can't be checked moves to the end of the queue.
    await installationStore.noteRevocationCheck(id, system.now());
    await settleRevocation(id, revokedAt, ports).catch((error: unknown) =>
      log.error('an uninstall could not be checked', { installation: id, ...describeDefect(error) }),
    );
  }
}

/** Says what the operator can do, since nothing else happens by itself. */
const UNPROVEN =
  'the app may have been uninstalled, but nothing proves it: Slack refused the refresh token, which an earlier renewal ' +
  'may have used up without an answer. Nothing was erased; requests are answered with the link to install the app. If ' +
  'it was uninstalled, erase what is stored: npm run store -- erase --workspace, with the ID of this installation';

/**
 * Erases what is stored if the very token that is stored was revoked, and forgets the event if the token works. While
 * Slack doesn't say, it stays due; where Slack's answers can't prove it, nothing is erased and nobody asks again.
 */
async function settleRevocation(id: InstallationId, revokedAt: number, ports: Ports): Promise<void> {
  // A renewal at the same time would use up the refresh token, which would look like a revocation.
  await ports.locks.run(renewalLock(id), (lock) => settle(id, revokedAt, lock, ports));
}

async function settle(id: InstallationId, revokedAt: number, lock: LockOwner, ports: Ports): Promise<void> {
  const { installationStore, log } = ports;
  const installation = await installationStore.find(id);
  if (!installation) return;
  const isEarlier = revokedAt + CLOCKS_APART_MS < installation.installedAt;
  const verdict = isEarlier ? 'works' : await judge(installation, lock, ports);
  if (verdict === 'unknown') return;
  if (verdict === 'works') {
    log.info('an event about an earlier install was ignored', { installation: id });
    return installationStore.dropRevocation(id, revokedAt);
  }
  if (verdict === 'unproven') {
    const isFirst = await installationStore.setRevocationAside(installation, revokedAt);
    if (isFirst) log.warn(UNPROVEN, { installation: id });
    return;
  }
  const isErased = await installationStore.erase(installation, auditOfErasure(ports));
  if (isErased) log.warn('uninstalled: what was stored is erased', { installation: id });
}

type Verdict = Exclude<TokenVerdict, 'expired'> | 'unproven';

/**
 * A token that has expired says nothing: whether it can be renewed does. A refused refresh token proves an uninstall only
 * if the app has certainly not used it up itself.
 */
async function judge(installation: Installation, lock: LockOwner, ports: Ports): Promise<Verdict> {
  const { tokens, isRefreshRefused } = installation;
  const verdict = await ports.tokenService.test(tokens.bot);
  if (verdict !== 'expired') return verdict;
  const now = isRefreshRefused ? installation : await useRefreshToken(installation, lock, ports);
  if (!now) return 'unknown';
  if (!now.isRefreshRefused) return 'works';
  return now.mayRefreshBeSpent ? 'unproven' : 'revoked';
}
