import { THE_COMMAND_LINE } from '../../domain/actor.ts';
import type { InstallationId } from '../../domain/ids.ts';
import { auditOfErasure } from './audit-of-install.ts';
import type { InstallationPorts } from './ports.ts';
import { renewalLock } from './rotate-tokens.ts';

type Ports = Pick<InstallationPorts, 'installationStore' | 'locks' | 'system'>;

/** The outcome. `in_use`: nothing was erased, as Slack has not refused the token that is stored. */
export type ErasedByHand = 'erased' | 'not_installed' | 'in_use';

/**
 * Erases what an uninstall erases, for an uninstall that the operator knows of but the app can't prove. Refuses if the app works
 * there.
 * Money effect: none; nothing more can be paid with the key.
 * @throws Refusal `waited_too_long`, `key_unreadable`
 */
export async function eraseByHand(id: InstallationId, ports: Ports): Promise<ErasedByHand> {
  const { installationStore, locks, system } = ports;
  return locks.run(renewalLock(id), async () => {
    const installation = await installationStore.find(id);
    if (!installation) return 'not_installed';
    const { isTokenRefused, isRefreshRefused, tokens } = installation;
    const isExpired = tokens.rotation !== undefined && tokens.rotation.expiresAt <= system.now();
    if (!isTokenRefused && !(isRefreshRefused && isExpired)) return 'in_use';
    const by = { actorId: THE_COMMAND_LINE, surface: 'cli' } as const;
    return (await installationStore.erase(installation, auditOfErasure(ports, by))) ? 'erased' : 'in_use';
  });
}
