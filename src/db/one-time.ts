import type { OutcomeThreads, ReplyUrls, SeenRequests } from '../core/directory.ts';
import { Secret } from '../core/secret.ts';
import type { Foundation } from './database.ts';
import type { SealedPlace } from './vault.ts';

/** Requests that changed something: the second one with the same ID is a replay. */
export function createSeenRequests({ db }: Foundation): SeenRequests {
  const addAll = async (ids: readonly string[], seen_at: number): Promise<boolean> => {
    const added = await db
      .insertInto('seen_requests')
      .values(ids.map((id) => ({ id, seen_at })))
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .execute();
    return added.length === ids.length;
  };
  return {
    addFirst: (requestId, at) => addAll([requestId], at),
    addAll,
    removeBefore: async (at) => {
      await db.deleteFrom('seen_requests').where('seen_at', '<', at).execute();
    },
  };
}

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

/** The threads in which forms were opened, by the ID of the confirmation that they lead to. */
export function createOutcomeThreads({ db }: Foundation): OutcomeThreads {
  return {
    store: async (id, workspaceId, { ts, isOpen }, until) => {
      const values = { workspace_id: workspaceId, thread_ts: ts, is_open: isOpen ? 1 : 0, until };
      await db
        .insertInto('outcome_threads')
        .values({ id, ...values })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
        .execute();
    },
    find: async (id) => {
      const row = await db
        .selectFrom('outcome_threads')
        .select(['thread_ts', 'is_open'])
        .where('id', '=', id)
        .executeTakeFirst();
      return row && { ts: row.thread_ts, isOpen: row.is_open === 1 };
    },
    removeExpired: async (now) => {
      await db.deleteFrom('outcome_threads').where('until', '<=', now).execute();
    },
  };
}
