import type { Installation } from '../../domain/installation.ts';
import type { LockOwner } from '../locks.ts';
import type { InstallationPorts } from './ports.ts';

type Ports = Pick<InstallationPorts, 'installationStore' | 'tokenService' | 'log'>;

/**
 * Uses the refresh token, and stores the outcome: new tokens, or that Slack refused it. Returns the installation as stored
 * then; undefined if there was no outcome and it can be tried again. That the token is about to be sent is stored first, so
 * that a crash or a lost answer leaves a trace: Slack refuses a token that was used up just like one that was revoked. `lock`:
 * the renewal lock, under which the installation was read.
 * @throws what the store throws
 */
export async function useRefreshToken(
  installation: Installation,
  lock: LockOwner,
  { installationStore, tokenService, log }: Ports,
): Promise<Installation | undefined> {
  const { id, tokens } = installation;
  if (!tokens.rotation || !(await installationStore.markRefreshSent(installation, lock))) return undefined;
  const outcome = await tokenService.refresh(tokens.rotation.refreshToken);
  if (outcome.kind === 'renewed') {
    const isStored = await installationStore.replaceTokens(installation, outcome.tokens);
    return isStored ? { ...installation, tokens: outcome.tokens, mayRefreshBeSpent: false } : undefined;
  }
  const { kind, error } = outcome;
  log.error('Slack did not renew a token', { installation: id, error, isFinal: kind === 'refused' });
  if (kind === 'refused') {
    const mayRefreshBeSpent = !(await installationStore.markRefreshRefused(installation, lock));
    return { ...installation, isRefreshRefused: true, mayRefreshBeSpent };
  }
  if (kind === 'unsent') await installationStore.markRefreshUnsent(installation, lock);
  return undefined;
}
