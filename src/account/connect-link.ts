import { createHash } from 'node:crypto';
import type { AppContext } from '../context.ts';
import { type Caller, defineUseCase } from '../core/entry.ts';
import { Refusal } from '../core/errors.ts';
import { Secret } from '../core/secret.ts';
import type { ServerList } from '../core/server.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { Foundation } from '../db/database.ts';
import { keep } from '../db/kept.ts';
import { notifyKeyChange, storeKey } from './keys.ts';

/** How long a link of `/vps connect` works. */
const LINK_TTL_MS = 10 * MINUTE_MS;

/** A new link. The hash, which opens nothing, names it in everything that is stored. */
interface NewLink {
  readonly token: Secret<string>;
  readonly tokenHash: string;
}

/** Makes a one-time link to the form that takes the API key, for this user in this workspace. It works for ten minutes. */
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

/** The hash of a token; the token itself is never stored. */
function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** The link of a token. The form acts as the user who requested it, in the channel where they did. */
export type FoundLink =
  | {
      readonly kind: 'usable';
      readonly tokenHash: string;
      readonly caller: Caller;
      readonly workspaceName: string;
      /** Whether the workspace has an API key, which would be replaced. */
      readonly isReplacing: boolean;
    }
  | { readonly kind: 'unusable'; readonly reason: 'used' | 'expired' | 'unknown' };

/** Finds the link of a token, without using it up. */
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
 * Connects the account with the entered key, after reading the list of servers with it. Success uses up the link, and the user
 * is notified where they requested it.
 * @throws Refusal `link_unusable`; HostingError as `connectKey` does
 */
export const connectByLink = defineUseCase({
  name: 'connect',
  needs: 'owner',
  effect: 'changes',
  run: async (input: { tokenHash: string; key: Secret<string> }, context): Promise<Connected> => {
    const { tokenHash } = input;
    const { connectLinks, system } = context.app;
    if (!(await connectLinks.take(tokenHash, system.now()))) {
      throw new Refusal('link_unusable', { reason: 'used' });
    }
    let list: ServerList | undefined;
    try {
      list = await storeKey(input.key, context);
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

/** Keys that may be tried through one link: enough for typing errors, too few for guessing. */
export const MAX_TRIES = 5;

/** A one-time link. `expiresAt`: epoch milliseconds. */
interface ConnectLink {
  readonly tokenHash: string;
  readonly workspaceId: string;
  readonly userId: string;
  readonly channelId?: string | undefined;
  readonly expiresAt: number;
}

export type ConnectLinks = ReturnType<typeof createConnectLinks>;

/** Stores the one-time links of `/vps connect`, with a hash of the token only. `now`: epoch milliseconds. */
export function createConnectLinks({ db }: Foundation) {
  const change = (tokenHash: string) =>
    db.updateTable('kept').where('kind', '=', 'connect_link').where('id', '=', tokenHash);
  return {
    put: ({ tokenHash, workspaceId, userId, channelId, expiresAt }: ConnectLink): Promise<void> =>
      keep(db, {
        ...{ kind: 'connect_link', id: tokenHash, workspace_id: workspaceId },
        value: JSON.stringify({ userId, channelId }),
        ...{ uses_left: MAX_TRIES, until: expiresAt },
      }),
    /** `isUsed`: it was used, is in use, or has no tries left. */
    find: async (tokenHash: string): Promise<(ConnectLink & { readonly isUsed: boolean }) | undefined> => {
      const row = await db
        .selectFrom('kept')
        .selectAll()
        .where('kind', '=', 'connect_link')
        .where('id', '=', tokenHash)
        .executeTakeFirst();
      if (!row) return undefined;
      const { userId, channelId } = JSON.parse(row.value);
      const { workspace_id: workspaceId, until: expiresAt } = row;
      return { tokenHash, workspaceId, userId, channelId, expiresAt, isUsed: row.uses_left <= 0 };
    },
    /**
     * Takes the link for one try; false if it was used, is in use, has expired, or has no tries left. While it is in use, the
     * number of the tries that are left is negative.
     */
    take: async (tokenHash: string, now: number): Promise<boolean> => {
      const taken = await change(tokenHash)
        .set(({ eb, val }) => ({ uses_left: eb(val(1), '-', eb.ref('uses_left')) }))
        .where('uses_left', '>', 0)
        .where('until', '>', now)
        .returning('id')
        .executeTakeFirst();
      return taken !== undefined;
    },
    /** Lets the link be used again, after a try that failed. */
    giveBack: async (tokenHash: string): Promise<void> => {
      await change(tokenHash)
        .set((column) => ({ uses_left: column('uses_left', '*', -1) }))
        .where('uses_left', '<', 0)
        .execute();
    },
  };
}
