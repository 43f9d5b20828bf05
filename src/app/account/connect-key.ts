import { createHash } from 'node:crypto';
import { Refusal } from '../../domain/errors.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { Secret } from '../../domain/secret.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import { type Caller, useCasesOver } from '../authorize/use-case.ts';
import type { HostingApi } from '../hosting-api.ts';
import type { AppPorts } from '../ports.ts';
import type { ApiKeys } from './ports.ts';

const defineUseCase = useCasesOver<AppPorts>();

/** How long a link of `/vps connect` works. */
export const LINK_TTL_MS = 10 * MINUTE_MS;

/** Makes a one-time link to the form that takes the API key, bound to the workspace and the person who asked. */
export const makeConnectLink = defineUseCase({
  name: 'connect_link',
  needs: 'owner',
  effect: 'changes',
  run: async (_input: Record<never, never>, context): Promise<{ token: Secret<string> }> => {
    const { system, connectLinks } = context.ports;
    const token = system.newToken(32);
    await connectLinks.put({
      tokenHash: hashToken(token),
      workspaceId: context.actor.workspaceId,
      userId: context.actor.userId,
      expiresAt: system.now() + LINK_TTL_MS,
      ...omitUndefined({ channelId: context.actor.channelId }),
    });
    return { token: new Secret(token) };
  },
});

/** Only this is stored of a link's token. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** What a link is good for: the form, as the user who asked for the link and where they asked. Nobody else may use it. */
export type FoundLink =
  | { readonly kind: 'usable'; readonly tokenHash: string; readonly caller: Caller }
  | { readonly kind: 'unusable'; readonly reason: 'used' | 'expired' | 'unknown' };

/** Finds the link that a token belongs to; looking does not use it up. */
export async function findConnectLink(
  token: string,
  { connectLinks, system }: Pick<AppPorts, 'connectLinks' | 'system'>,
): Promise<FoundLink> {
  const link = await connectLinks.find(hashToken(token));
  if (!link) return { kind: 'unusable', reason: 'unknown' };
  if (link.isUsed) return { kind: 'unusable', reason: 'used' };
  if (link.expiresAt <= system.now()) return { kind: 'unusable', reason: 'expired' };
  const { workspaceId, userId, channelId, tokenHash } = link;
  const actor = { workspaceId, userId, ...omitUndefined({ channelId }) };
  return { kind: 'usable', tokenHash, caller: { actor, surface: 'page' } };
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
    const { apiKeys, connectLinks, system } = context.ports;
    if (!(await connectLinks.take(input.tokenHash, system.now()))) {
      throw new Refusal('link_unusable', { reason: 'used' });
    }
    let isKept = false;
    try {
      const { workspaceId, userId } = context.actor;
      const hosting = context.ports.hostingOf(input.key);
      await keepKey({
        workspaceId,
        key: input.key,
        setBy: userId,
        hosting,
        apiKeys,
        now: () => system.now(),
      });
      isKept = true;
    } finally {
      if (!isKept) await connectLinks.giveBack(input.tokenHash);
    }
  },
});

/**
 * Tries the key with a harmless request, and keeps it, sealed, only if that worked.
 * @throws HostingError as the request does
 */
export async function keepKey(wanted: {
  readonly workspaceId: string;
  readonly key: Secret<string>;
  readonly setBy: string;
  readonly hosting: HostingApi;
  readonly apiKeys: Pick<ApiKeys, 'put'>;
  readonly now: () => number;
}): Promise<void> {
  await wanted.hosting.listServers({ freshness: 'fresh' });
  await wanted.apiKeys.put(wanted.workspaceId, wanted.key, wanted.setBy, wanted.now());
}

/** Forgets the workspace's API key. False when there was none. */
export const disconnectKey = defineUseCase({
  name: 'disconnect',
  needs: 'owner',
  effect: 'changes',
  run: async (_input: Record<never, never>, context): Promise<boolean> =>
    context.ports.apiKeys.remove(context.actor.workspaceId),
});

/** Trims what was pasted; undefined when it can't be a key: it has to fit into one header line. */
export function findKey(pasted: string): Secret<string> | undefined {
  const key = pasted.trim();
  return /^[\x21-\x7e]{1,512}$/.test(key) ? new Secret(key) : undefined;
}
