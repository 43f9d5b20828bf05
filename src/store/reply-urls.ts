import type { ReplyUrls } from '../app/authorize/ports.ts';
import { Secret } from '../domain/secret.ts';
import type { SealedPlace } from '../vault.ts';
import type { Foundation } from './engine/database.ts';

/** Slack takes this many messages through one `response_url` (Slack, "Handling user interaction"). */
const MOST_USES = 5;

/** `response_url`s, sealed: with one of them anyone can post as the app. */
export function createReplyUrls({ db, vault }: Foundation): ReplyUrls {
  return {
    store: async (id, workspaceId, url, until) => {
      const sealed = vault.seal(url.reveal(), placeOf(id, workspaceId));
      const values = { workspace_id: workspaceId, sealed, uses_left: MOST_USES, until };
      await db
        .insertInto('reply_urls')
        .values({ id, ...values })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
        .execute();
    },
    use: async (id, now) => {
      const row = await db
        .updateTable('reply_urls')
        .set((column) => ({ uses_left: column('uses_left', '-', 1) }))
        .where('id', '=', id)
        .where('uses_left', '>', 0)
        .where('until', '>', now)
        .returning(['workspace_id', 'sealed'])
        .executeTakeFirst();
      return row && new Secret(vault.open(row.sealed, placeOf(id, row.workspace_id)));
    },
    removeExpired: async (now) => {
      await db.deleteFrom('reply_urls').where('until', '<=', now).execute();
    },
  };
}

function placeOf(id: string, workspaceId: string): SealedPlace {
  return { table: 'reply_urls', row: id, column: 'sealed', workspaceId };
}
