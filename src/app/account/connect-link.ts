import { createHash } from 'node:crypto';
import { Refusal } from '../../domain/errors.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { Secret } from '../../domain/secret.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import { type Caller, useCasesOver } from '../authorize/use-case.ts';
import { storeKey } from './connect-key.ts';
import type { AccountPorts } from './ports.ts';

const defineUseCase = useCasesOver<AccountPorts>();

/** How long a link of `/vps connect` works. */
export const LINK_TTL_MS = 10 * MINUTE_MS;

/** Makes a one-time link to the form that takes the API key, for this user in this workspace. */
export const makeConnectLink = defineUseCase({
  name: 'connect_link',
  needs: 'owner',
  effect: 'changes',
  run: async (_input: Record<never, never>, { actor, ports }): Promise<{ token: Secret<string> }> => {
    const { system, connectLinks } = ports;
    const token = system.newToken(32);
    await connectLinks.put({
      tokenHash: hashToken(token),
      workspaceId: actor.workspaceId,
      userId: actor.userId,
      expiresAt: system.now() + LINK_TTL_MS,
      ...omitUndefined({ channelId: actor.channelId }),
    });
    return { token: new Secret(token) };
  },
});

/** Only this is stored of a link's token. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** The link of a token: the form acts as the user who requested it, in the place where they requested it. */
export type FoundLink =
  | { readonly kind: 'usable'; readonly tokenHash: string; readonly caller: Caller }
  | { readonly kind: 'unusable'; readonly reason: 'used' | 'expired' | 'unknown' };

/** Finds the link that a token belongs to; looking at it does not use it up. */
export async function findConnectLink(
  token: string,
  { connectLinks, system }: Pick<AccountPorts, 'connectLinks' | 'system'>,
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
 * Connects the account with the key that was entered in the form. Success uses the link up.
 * @throws Refusal `link_unusable`; HostingError as `connectKey` does
 */
export const connectByLink = defineUseCase({
  name: 'connect',
  needs: 'owner',
  effect: 'changes',
  run: async (input: { tokenHash: string; key: Secret<string> }, { actor, ports }): Promise<void> => {
    const { connectLinks, system } = ports;
    if (!(await connectLinks.take(input.tokenHash, system.now()))) {
      throw new Refusal('link_unusable', { reason: 'used' });
    }
    let isStored = false;
    try {
      await storeKey(input.key, { actor, ports });
      isStored = true;
    } finally {
      if (!isStored) await connectLinks.giveBack(input.tokenHash);
    }
  },
});
