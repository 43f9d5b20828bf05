import type { ConnectLink, ConnectLinks } from '../../app/account/ports.ts';
import type { Foundation } from '../engine/database.ts';
import { keepPresent } from '../engine/omit-null.ts';

/** How often a key may be tried through one link: a typing error is forgiven, guessing is not possible. */
export const MAX_TRIES = 5;

/** The one-time links of `/vps connect`. */
export function createConnectLinks({ db }: Foundation): ConnectLinks {
  return {
    put: (link) => putLink(db, link),
    find: (tokenHash) => findLink(db, tokenHash),
    take: (tokenHash, now) => takeLink(db, tokenHash, now),
    giveBack: async (tokenHash) => {
      await db
        .updateTable('connect_links')
        .set({ is_taken: 0 })
        .where('token_hash', '=', tokenHash)
        .execute();
    },
    removeExpired: async (now) => {
      await db.deleteFrom('connect_links').where('expires_at', '<=', now).execute();
    },
  };
}

async function putLink(db: Foundation['db'], link: ConnectLink): Promise<void> {
  await db
    .insertInto('connect_links')
    .values({
      token_hash: link.tokenHash,
      workspace_id: link.workspaceId,
      user_id: link.userId,
      channel_id: link.channelId ?? null,
      expires_at: link.expiresAt,
      is_taken: link.isUsed ? 1 : 0,
      tries: 0,
    })
    .execute();
}

async function findLink(db: Foundation['db'], tokenHash: string): Promise<ConnectLink | undefined> {
  const row = await db
    .selectFrom('connect_links')
    .selectAll()
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst();
  if (!row) return undefined;
  return {
    tokenHash: row.token_hash,
    workspaceId: row.workspace_id,
    userId: row.user_id,
    expiresAt: row.expires_at,
    isUsed: row.is_taken === 1 || row.tries >= MAX_TRIES,
    ...keepPresent({ channelId: row.channel_id }),
  };
}

async function takeLink(db: Foundation['db'], tokenHash: string, now: number): Promise<boolean> {
  const taken = await db
    .updateTable('connect_links')
    .set((column) => ({ is_taken: 1, tries: column('tries', '+', 1) }))
    .where('token_hash', '=', tokenHash)
    .where('is_taken', '=', 0)
    .where('tries', '<', MAX_TRIES)
    .where('expires_at', '>', now)
    .returning('token_hash')
    .executeTakeFirst();
  return taken !== undefined;
}
