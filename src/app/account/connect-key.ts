import { Secret } from '../../domain/secret.ts';
import { type UseCaseContext, useCasesOver } from '../authorize/use-case.ts';
import type { AccountPorts } from './ports.ts';

const defineUseCase = useCasesOver<AccountPorts>();

/**
 * Tries the key with one read-only request and stores it, sealed, only if that worked.
 * @throws HostingError `unauthorized` (wrong key), `not_allowed` (no top-up yet) and the others of a read
 */
export const connectKey = defineUseCase({
  name: 'connect',
  needs: 'owner',
  effect: 'changes',
  run: (input: { key: Secret<string> }, context): Promise<void> => storeKey(input.key, context),
});

/** Does what `connectKey` says, for the workspace that the actor acts in. */
export async function storeKey(
  key: Secret<string>,
  { actor, ports }: Pick<UseCaseContext<AccountPorts>, 'actor' | 'ports'>,
): Promise<void> {
  await ports.hostingOf(key, actor.workspaceId).listServers({ freshness: 'fresh' });
  // Confirmations made while the key was being tested were meant for the previous key's account (`hosting-since.ts`).
  await ports.apiKeys.put(actor.workspaceId, key, actor.userId, ports.system.now());
}

/** Removes the workspace's API key. False when there was none. */
export const disconnectKey = defineUseCase({
  name: 'disconnect',
  needs: 'owner',
  effect: 'changes',
  run: async (_input: Record<never, never>, { actor, ports }): Promise<boolean> =>
    ports.apiKeys.remove(actor.workspaceId),
});

/** Trims what was pasted; undefined when it can't be a key, which has to fit into one header line. */
export function findKey(pasted: string): Secret<string> | undefined {
  const key = pasted.trim();
  return /^[\x21-\x7e]{1,512}$/.test(key) ? new Secret(key) : undefined;
}
