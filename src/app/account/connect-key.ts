import { Secret } from '../../domain/secret.ts';
import type { ServerList } from '../../domain/server.ts';
import { defineUseCase, type UseCaseContext } from '../authorize/use-case.ts';
import { notifyKeyChange } from './notify-key-change.ts';

/**
 * Tries the key with one read-only request and stores it, sealed, only if that worked. Returns the list of servers.
 * @throws HostingError `unauthorized` (wrong key), `not_allowed` (no top-up yet) and the others of a read
 */
export const connectKey = defineUseCase({
  name: 'connect',
  needs: 'owner',
  effect: 'changes',
  run: (input: { key: Secret<string> }, context): Promise<ServerList> => storeKey(input.key, context),
  follow: (_output, context) => notifyKeyChange('set', context),
});

/** Does what `connectKey` says, for the workspace that the actor acts in. */
export async function storeKey(
  key: Secret<string>,
  { actor, app }: Pick<UseCaseContext, 'actor' | 'app'>,
): Promise<ServerList> {
  const list = await app.hostingOf(key, actor.workspaceId).fetchServers({ freshness: 'fresh' });
  // Counts as another key from here on: what was confirmed while it was tested was meant for the one before.
  await app.apiKeys.put(actor.workspaceId, key, actor.userId, app.system.now());
  return list;
}

/** Removes the workspace's API key. False when there was none. */
export const disconnectKey = defineUseCase({
  name: 'disconnect',
  needs: 'owner',
  effect: 'changes',
  run: async (_input: Record<never, never>, { actor, app }): Promise<boolean> =>
    app.apiKeys.remove(actor.workspaceId),
  follow: async (wasThere, context) => {
    if (wasThere) await notifyKeyChange('removed', context);
  },
});

/** The longest key that is taken; the document names no limit (docs/hosting-api.md 5). */
export const LONGEST_KEY = 512;

/** What was pasted as a key: the key, or what is wrong with it. */
export type PastedKey = { readonly key: Secret<string> } | { readonly wrong: 'too_long' | 'not_a_key' };

/** Trims what was pasted; a key has to fit into one header line. Never cuts: a part of a key would be another key. */
export function readKey(pasted: string): PastedKey {
  const key = pasted.trim();
  if (!/^[\x21-\x7e]+$/.test(key)) return { wrong: 'not_a_key' };
  return key.length > LONGEST_KEY ? { wrong: 'too_long' } : { key: new Secret(key) };
}
