import { describeDefect } from '../core/errors.ts';
import type { InstallationId } from '../core/ids.ts';
import { HOUR_MS, MINUTE_MS } from '../core/time.ts';
import { auditOfErasure, type InstallationPorts } from './installations.ts';

type Ports = Pick<InstallationPorts, 'installationStore' | 'tokenService' | 'locks' | 'system' | 'log'>;

/** Slack's tokens live for twelve hours: there is time to try again. */
const AHEAD_MS = 3 * HOUR_MS;
/** How far our clock and Slack's may be apart. */
const CLOCKS_APART_MS = 5 * MINUTE_MS;

/**
 * An event said that the app was uninstalled, or its token revoked. It is written down first, so that a crash forgets
 * nothing, and then checked: events come late, and more than once.
 */
export async function noteRevocation(
  ids: readonly InstallationId[],
  revokedAt: number,
  app: Ports,
): Promise<void> {
  for (const id of ids) await app.installationStore.noteRevocation(id, revokedAt);
  for (const id of ids) await checkRevocation(id, revokedAt, app);
}

/** Renews tokens before they expire, and checks again what Slack has not confirmed when the event came. */
export async function watchTokens(app: Ports): Promise<void> {
  await Promise.all([renewTokens(app), checkRevocations(app)]);
}

async function renewTokens(app: Ports): Promise<void> {
  for (const id of await app.installationStore.listExpiring(app.system.now() + AHEAD_MS))
    await renewToken(id, app).catch((error: unknown) =>
      app.log.error('a token could not be renewed', { installation: id, ...describeDefect(error) }),
    );
}

/** A refresh token works once. If its answer gets lost, Slack refuses it from then on, and only another install helps. */
export async function renewToken(id: InstallationId, app: Ports): Promise<void> {
  const { installationStore, tokenService, locks, system, log } = app;
  await locks.run(tokenLock(id), async () => {
    const installation = await installationStore.find(id);
    const rotation = installation?.tokens.rotation;
    if (!rotation || installation.isRefreshRefused || rotation.expiresAt > system.now() + AHEAD_MS) return;
    const outcome = await tokenService.refresh(rotation.refreshToken);
    if (outcome.kind === 'renewed') {
      await installationStore.replaceTokens(installation, outcome.tokens);
      return;
    }
    const { kind, error } = outcome;
    log.error('Slack did not renew a token', { installation: id, error, isFinal: kind === 'refused' });
    if (kind === 'refused') await installationStore.markRefreshRefused(installation);
  });
}

async function checkRevocations(app: Ports): Promise<void> {
  const { installationStore, system, log } = app;
  const now = system.now();
  for (const { id, revokedAt, checkedAt } of await installationStore.listRevocations()) {
    // Each wait is as long as all before it together.
    if (now - checkedAt < Math.min(HOUR_MS, checkedAt - revokedAt)) continue;
    await installationStore.noteRevocationCheck(id, now);
    await checkRevocation(id, revokedAt, app).catch((error: unknown) =>
      log.error('an uninstall could not be checked', { installation: id, ...describeDefect(error) }),
    );
  }
}

/**
 * Erases what is stored if Slack says that the very token that is stored was revoked, and forgets the event if the token
 * works. Any other answer proves nothing, and the event stays due.
 */
async function checkRevocation(id: InstallationId, revokedAt: number, app: Ports): Promise<void> {
  const { installationStore, tokenService, locks, log } = app;
  // Not while the token is being replaced, of which Slack may send such an event, too.
  await locks.run(tokenLock(id), async () => {
    const installation = await installationStore.find(id);
    if (!installation) return;
    const isEarlier = revokedAt + CLOCKS_APART_MS < installation.installedAt;
    const verdict = isEarlier ? 'works' : await tokenService.test(installation.tokens.bot);
    if (verdict === 'unknown') return;
    if (verdict === 'works') {
      log.info('an event about an earlier install was ignored', { installation: id });
      return installationStore.dropRevocation(id, revokedAt);
    }
    const isErased = await installationStore.erase(installation, auditOfErasure(app));
    if (isErased) log.warn('uninstalled: what was stored is erased', { installation: id });
  });
}

/** Held by the process that uses the tokens up or erases them. */
function tokenLock(id: InstallationId): string {
  return `renew token ${id}`;
}
