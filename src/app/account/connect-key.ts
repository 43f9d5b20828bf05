import { createHash } from 'node:crypto';
import { Refusal } from '../../domain/errors.ts';
import { Secret } from '../../domain/secret.ts';
import { defineUseCase } from '../authorize/use-case.ts';
import type { ConnectLink, HostingApi, Store } from '../ports.ts';

/** How long a link of `/vps connect` works. */
export const LINK_TTL_MS = 10 * 60_000;

/** Makes a one-time link to the form that takes the API key, bound to the workspace and the person who asked. */
export const makeConnectLink = defineUseCase({
  name: 'connect_link',
  needs: 'owner',
  effect: 'changes',
  run: async (_input: Record<never, never>, context): Promise<{ token: Secret<string> }> => {
    const { system, store } = context.services;
    const token = system.newToken(32);
    await store.connectLinks.put({
      tokenHash: hashToken(token),
      workspaceId: context.actor.workspaceId,
      userId: context.actor.userId,
      ...(context.actor.channelId === undefined ? {} : { channelId: context.actor.channelId }),
      expiresAt: system.now() + LINK_TTL_MS,
    });
    return { token: new Secret(token) };
  },
});

/** Only this is stored of a link's token. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Tells why a link can't be used; undefined when it can. */
export function whyUnusable(
  link: ConnectLink | undefined,
  now: number,
): 'used' | 'expired' | 'unknown' | undefined {
  if (!link) return 'unknown';
  if (link.isUsed) return 'used';
  return link.expiresAt <= now ? 'expired' : undefined;
}

/**
 * Tries the key with a real request and keeps it, sealed, only if that worked. The link is spent by success.
 * @throws Refusal `link_unusable`; HostingError `unauthorized` (wrong key), `not_allowed` (no top-up yet) and the others
 */
export const connectKey = defineUseCase({
  name: 'connect',
  needs: 'owner',
  effect: 'changes',
  run: async (input: { tokenHash: string; key: Secret<string> }, context): Promise<void> => {
    const { store, system } = context.services;
    if (!(await store.connectLinks.take(input.tokenHash, system.now()))) {
      throw new Refusal('link_unusable', { reason: 'used' });
    }
    let isKept = false;
    try {
      const { workspaceId, userId } = context.actor;
      const hosting = context.services.hostingOf(input.key);
      await keepKey({ workspaceId, key: input.key, setBy: userId, hosting, store, now: () => system.now() });
      isKept = true;
    } finally {
      if (!isKept) await store.connectLinks.giveBack(input.tokenHash);
    }
  },
});

/**
 * Tries the key with a harmless request, and keeps it, sealed, only if that worked.
 * @throws HostingError as the request does
 */
export async function keepKey(wish: {
  readonly workspaceId: string;
  readonly key: Secret<string>;
  readonly setBy: string;
  readonly hosting: HostingApi;
  readonly store: Store;
  readonly now: () => number;
}): Promise<void> {
  await wish.hosting.listServers({ freshness: 'fresh' });
  await wish.store.apiKeys.put(wish.workspaceId, wish.key, wish.setBy, wish.now());
}

/** Forgets the workspace's API key. False when there was none. */
export const disconnectKey = defineUseCase({
  name: 'disconnect',
  needs: 'owner',
  effect: 'changes',
  run: async (_input: Record<never, never>, context): Promise<boolean> =>
    context.services.store.apiKeys.remove(context.actor.workspaceId),
});

/** Trims what was pasted; undefined when it can't be a key: it has to fit into one header line. */
export function findKey(pasted: string): Secret<string> | undefined {
  const key = pasted.trim();
  return /^[\x21-\x7e]{1,512}$/.test(key) ? new Secret(key) : undefined;
}
