import { createHash } from 'node:crypto';
import { Refusal } from '../../domain/errors.ts';
import { Secret } from '../../domain/secret.ts';
import type { ServerList } from '../../domain/server.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import { type Caller, defineUseCase } from '../authorize/use-case.ts';
import type { AppContext } from '../ports.ts';
import { storeKey } from './connect-key.ts';
import { notifyKeyChange } from './notify-key-change.ts';

/** How long a link of `/vps connect` works. */
const LINK_TTL_MS = 10 * MINUTE_MS;

/** A link that was just made. The hash, which opens nothing, names it in everything that is stored. */
export interface NewLink {
  readonly token: Secret<string>;
  readonly tokenHash: string;
}

/** Makes a one-time link to the form that takes the API key, for this user in this workspace. */
export const makeConnectLink = defineUseCase({
  name: 'connect_link',
  needs: 'owner',
  effect: 'changes',
  run: async (_input: Record<never, never>, { actor, app }): Promise<NewLink> => {
    const { system, connectLinks } = app;
    const token = system.newToken(32);
    const tokenHash = hashToken(token);
    await connectLinks.put({
      tokenHash,
      workspaceId: actor.workspaceId,
      userId: actor.userId,
      expiresAt: system.now() + LINK_TTL_MS,
      channelId: actor.channelId,
    });
    return { token: new Secret(token), tokenHash };
  },
});

/** Only this is stored of a link's token. */
function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** The link of a token: the form acts as the user who requested it, in the place where they requested it. */
export type FoundLink =
  | {
      readonly kind: 'usable';
      readonly tokenHash: string;
      readonly caller: Caller;
      readonly workspaceName: string;
      /** An API key is connected already, and will be replaced. */
      readonly isReplacing: boolean;
    }
  | { readonly kind: 'unusable'; readonly reason: 'used' | 'expired' | 'unknown' };

/** Finds the link that a token belongs to; looking at it does not use it up. */
export async function findConnectLink(
  token: string,
  { connectLinks, system, workspaces, apiKeys }: AppContext,
): Promise<FoundLink> {
  const link = await connectLinks.find(hashToken(token));
  if (!link) return { kind: 'unusable', reason: 'unknown' };
  if (link.isUsed) return { kind: 'unusable', reason: 'used' };
  if (link.expiresAt <= system.now()) return { kind: 'unusable', reason: 'expired' };
  const { workspaceId, userId, channelId, tokenHash } = link;
  const actor = { workspaceId, userId, channelId };
  return {
    kind: 'usable',
    tokenHash,
    caller: { actor, surface: 'page' },
    workspaceName: (await workspaces.find(workspaceId))?.name ?? '',
    isReplacing: (await apiKeys.listWorkspaces()).includes(workspaceId),
  };
}

/**
 * Connects the account with the key that was entered in the form. Success uses the link up, and is told where the link
 * was requested.
 * @throws Refusal `link_unusable`; HostingError as `connectKey` does
 */
export const connectByLink = defineUseCase({
  name: 'connect',
  needs: 'owner',
  effect: 'changes',
  run: async (input: { tokenHash: string; key: Secret<string> }, { actor, app }): Promise<Connected> => {
    const { tokenHash } = input;
    const { connectLinks, system } = app;
    if (!(await connectLinks.take(tokenHash, system.now()))) {
      throw new Refusal('link_unusable', { reason: 'used' });
    }
    let list: ServerList | undefined;
    try {
      list = await storeKey(input.key, { actor, app });
    } finally {
      if (list === undefined) await connectLinks.giveBack(tokenHash);
    }
    const servers = list.extent === 'whole' ? list.servers.length : undefined;
    return { tokenHash, servers };
  },
  follow: async ({ tokenHash, servers }, context) => {
    const { actor, app } = context;
    await app.connectNotifier.notifyConnected({ confirmationId: tokenHash, ...actor }, servers);
    await notifyKeyChange('set', context);
  },
});

interface Connected {
  readonly tokenHash: string;
  /** How many servers the account has; absent if the list isn't certainly whole. */
  readonly servers?: number;
}
