import type { Installation, NewInstallation } from '../../domain/installation.ts';
import { isAllowed } from './allowed.ts';
import { auditOfInstall } from './audit-of-install.ts';
import type { InstallationPorts } from './ports.ts';

/** What became of an install that a user has allowed in Slack. */
export type InstallOutcome =
  | { readonly kind: 'installed'; readonly installation: Installation }
  | { readonly kind: 'not_allowed'; readonly name: string };

/** How an install ended that came back from Slack. `error`: Slack's code, or the name of what failed. */
export type InstallEnd =
  | InstallOutcome
  | { readonly kind: 'denied' | 'state_unusable' | 'unsaved' }
  | { readonly kind: 'refused'; readonly error: string };

/**
 * Stores an install, or refuses it where the operator doesn't allow it: then nothing is stored, and the token that Slack
 * has just issued is given back.
 */
export async function install(given: NewInstallation, app: InstallationPorts): Promise<InstallOutcome> {
  const { installationStore, tokenService, log } = app;
  if (isAllowed(given, app)) {
    const auditOf = auditOfInstall(given.installedBy, app);
    const installation = await installationStore.install(given, auditOf);
    log.info('installed', { installation: given.id, generation: installation.generation });
    return { kind: 'installed', installation };
  }
  log.warn('an install was refused: it is not in ALLOWED_WORKSPACES', { installation: given.id });
  // One that was allowed once may have the same token: what is stored of it is not given up by the way.
  if (!(await installationStore.find(given.id))) await tokenService.revoke(given.tokens.bot);
  return { kind: 'not_allowed', name: given.name };
}
