import { describeDefect } from '../core/errors.ts';
import type { InstallationId } from '../core/ids.ts';
import { HOUR_MS, MINUTE_MS } from '../core/time.ts';
import { auditOfErasure, type InstallationPorts } from './installations.ts';

/** Tokens are renewed this long before they end. They live for twelve hours, so there is time to try again. */
const AHEAD_MS = 3 * HOUR_MS;
/** Largest assumed difference between our clock and Slack's. */
const CLOCKS_APART_MS = 5 * MINUTE_MS;

/**
 * Handles an event that the app was uninstalled or its token revoked. Stores it, so that a crash doesn't lose it, and then checks
 * it, since events come late and more than once.
 */
export async function noteRevocation(
  ids: readonly InstallationId[],
  revokedAt: number,
  app: InstallationPorts,
): Promise<void> {
  for (const id of ids) await app.installationStore.noteRevocation(id, revokedAt);
  for (const id of ids) await checkRevocation(id, revokedAt, app);
}

/** What the job of tokens does: renews those that end soon, and checks uninstalls again that Slack has not confirmed yet. */
export async function watchTokens(app: InstallationPorts): Promise<void> {
  await Promise.all([renewTokens(app), checkRevocations(app)]);
}

async function renewTokens(app: InstallationPorts): Promise<void> {
  for (const id of await app.installationStore.listExpiring(app.system.now() + AHEAD_MS))
    await renewToken(id, app).catch((error: unknown) =>
      app.log.error('a token could not be renewed', { installation: id, ...describeDefect(error) }),
    );
}

/** Renews one token. A refresh token works once: if its answer gets lost, only another install helps (docs/slack.md). */
export async function renewToken(id: InstallationId, app: InstallationPorts): Promise<void> {
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

async function checkRevocations(app: InstallationPorts): Promise<void> {
  const { installationStore, system, log } = app;
  const now = system.now();
  for (const { id, revokedAt, checkedAt } of await installationStore.listRevocations()) {
    // The wait doubles: it is as long as the time from the event to the last check, and at most an hour.
    if (now - checkedAt < Math.min(HOUR_MS, checkedAt - revokedAt)) continue;
    await installationStore.noteRevocationCheck(id, now);
    await checkRevocation(id, revokedAt, app).catch((error: unknown) =>
      log.error('an uninstall could not be checked', { installation: id, ...describeDefect(error) }),
    );
  }
}

/**
 * Erases the installation if Slack says that the stored token is revoked, and drops the event if the token works. Any other
 * answer proves nothing, and the event stays due.
 */
async function checkRevocation(id: InstallationId, revokedAt: number, app: InstallationPorts): Promise<void> {
  const { installationStore, tokenService, locks, log } = app;
  // Not while the token is being renewed: Slack may send such an event for the old one, too.
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

/** The lock of the process that renews or erases the tokens. */
function tokenLock(id: InstallationId): string {
  return `renew token ${id}`;
}
