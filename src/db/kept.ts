import type { PostedMessage, Thread } from '../core/ids.ts';
import { Secret } from '../core/secret.ts';
import { DAY_MS } from '../core/time.ts';
import type { Foundation, Queries } from './database.ts';
import type { KeptRow } from './tables.ts';
import type { SealedPlace } from './vault.ts';

/** Stores a thing until its time, in place of an earlier one of that kind and ID. */
export async function keep(db: Queries, { kind, id, ...values }: KeptRow): Promise<void> {
  await db
    .insertInto('kept')
    .values({ kind, id, ...values })
    .onConflict((conflict) => conflict.columns(['kind', 'id']).doUpdateSet(values))
    .execute();
}

/** What is stored as JSON, by kind. */
interface Values {
  /** Where an order or request was made, by the ID of its form, so that any process can announce the outcome there. */
  thread: Thread;
  /** The channel's message about an act, by the act's ID, so that any process can edit it. */
  message: PostedMessage;
}

export type Kept = ReturnType<typeof createKept>;

/** Stores threads and messages until a time, and removes everything whose time has passed. Times are in epoch milliseconds. */
export function createKept({ db }: { readonly db: Queries }) {
  return {
    put: <Kind extends keyof Values>(
      kind: Kind,
      id: string,
      workspaceId: string,
      value: Values[Kind],
      until: number,
    ): Promise<void> =>
      keep(db, { kind, id, workspace_id: workspaceId, value: JSON.stringify(value), uses_left: 0, until }),
    find: async <Kind extends keyof Values>(kind: Kind, id: string): Promise<Values[Kind] | undefined> => {
      const row = await db
        .selectFrom('kept')
        .select('value')
        .where('kind', '=', kind)
        .where('id', '=', id)
        .executeTakeFirst();
      return row && JSON.parse(row.value);
    },
    remove: async (kind: keyof Values, id: string): Promise<void> => {
      await db.deleteFrom('kept').where('kind', '=', kind).where('id', '=', id).execute();
    },
    removeExpired: async (now: number): Promise<void> => {
      await db.deleteFrom('kept').where('until', '<=', now).execute();
    },
  };
}

/** How long handled requests are remembered: Slack repeats an event for up to a day, and its signatures are valid for minutes. */
export const SEEN_MS = 2 * DAY_MS;

export type SeenRequests = ReturnType<typeof createSeenRequests>;

/** The IDs of requests, events and notices that were handled: a second one with the same ID is a repetition. */
export function createSeenRequests({ db }: Foundation) {
  const addAll = async (ids: readonly string[], now: number): Promise<boolean> => {
    const shared = { kind: 'seen', workspace_id: '', value: '', uses_left: 0, until: now + SEEN_MS } as const;
    const added = await db
      .insertInto('kept')
      .values(ids.map((id) => ({ id, ...shared })))
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .execute();
    return added.length === ids.length;
  };
  return {
    /** Adds an ID; false if it was stored before. */
    addFirst: (id: string, now: number): Promise<boolean> => addAll([id], now),
    /** Adds all of these IDs; false if any was stored before. */
    addAll,
  };
}

/** Slack takes this many messages through one `response_url` (Slack, "Handling user interaction"). */
const MOST_USES = 5;

export type ReplyUrls = ReturnType<typeof createReplyUrls>;

/** `response_url`s, stored sealed, since anyone who has one can post as the app. */
export function createReplyUrls({ db, vault }: Foundation) {
  return {
    /** Stores a URL under the ID of its form or act, with five uses, in place of an earlier one. */
    store: (id: string, workspaceId: string, url: Secret<string>, until: number): Promise<void> => {
      const value = vault.seal(url.reveal(), placeOfReplyUrl(id, workspaceId));
      return keep(db, {
        kind: 'reply_url',
        id,
        workspace_id: workspaceId,
        value,
        uses_left: MOST_USES,
        until,
      });
    },
    /** Finds a URL and takes one of its uses; undefined if none is left or it has expired. */
    use: async (id: string, now: number): Promise<Secret<string> | undefined> => {
      const row = await db
        .updateTable('kept')
        .set((column) => ({ uses_left: column('uses_left', '-', 1) }))
        .where('kind', '=', 'reply_url')
        .where('id', '=', id)
        .where('uses_left', '>', 0)
        .where('until', '>', now)
        .returning(['workspace_id', 'value'])
        .executeTakeFirst();
      return row && new Secret(vault.open(row.value, placeOfReplyUrl(id, row.workspace_id)));
    },
  };
}

export function placeOfReplyUrl(id: string, workspaceId: string): SealedPlace {
  return { table: 'kept', row: `reply_url ${id}`, column: 'value', workspaceId };
}
