import type { MessageCommands, MessageRef } from '../../app/messages/ports.ts';
import type { Foundation, Queries } from '../engine/database.ts';
import { addSeenRequest } from '../seen-requests.ts';
import { toDueCommand } from './message-rows.ts';

/** Commands in messages that are not answered yet. Each change names the states that it starts from. */
export function createMessageCommands(foundation: Foundation): MessageCommands {
  const { db, engine } = foundation;
  return {
    receive: (command, ids, times) => engine.transact(db, (trx) => receive(trx, command, ids, times)),
    renew: async (ref, dueAt) => {
      await update(db, ref).set({ due_at: dueAt }).where('state', '=', 'working').execute();
    },
    begin: (ref, servers, dueAt) =>
      isChanged(
        update(db, ref)
          .set({ has_begun: 1, servers: JSON.stringify(servers), due_at: dueAt })
          .where('state', '=', 'working'),
      ),
    remove: async ({ id, workspaceId }) => {
      await db
        .deleteFrom('message_commands')
        .where('id', '=', id)
        .where('workspace_id', '=', workspaceId)
        .execute();
    },
    claim: (listed, dueAt) =>
      isChanged(
        update(db, listed)
          .set({ state: 'claimed', due_at: dueAt })
          .where('state', '!=', 'claimed')
          .where('due_at', '=', listed.dueAt),
      ),
    release: async (ref, dueAt) => {
      await update(db, ref).set({ state: 'lost', due_at: dueAt }).where('state', '=', 'claimed').execute();
    },
    ...createDue(foundation),
  };
}

function createDue({ db }: Foundation): Pick<MessageCommands, 'listDue' | 'removeBefore'> {
  return {
    listDue: async (now, limit) => {
      const rows = await db
        .selectFrom('message_commands')
        .selectAll()
        .where('due_at', '<=', now)
        .orderBy('due_at')
        .limit(limit)
        .execute();
      return rows.map(toDueCommand);
    },
    removeBefore: async (receivedAt) => {
      await db.deleteFrom('message_commands').where('received_at', '<', receivedAt).execute();
    },
  };
}

function update(db: Queries, { id, workspaceId }: MessageRef) {
  return db.updateTable('message_commands').where('id', '=', id).where('workspace_id', '=', workspaceId);
}

async function isChanged(query: ReturnType<typeof update>): Promise<boolean> {
  return (await query.returning('id').executeTakeFirst()) !== undefined;
}

/** All IDs are stored, also if only one of them is new. */
async function receive(
  trx: Queries,
  command: Parameters<MessageCommands['receive']>[0],
  ids: readonly string[],
  { now, dueAt, keptFrom }: Parameters<MessageCommands['receive']>[2],
): Promise<boolean> {
  const added: boolean[] = [];
  for (const id of ids) added.push(await addSeenRequest(trx, id, keptFrom));
  if (!added.every(Boolean)) return false;
  const { id, workspaceId, userId, homeTeamId, kind, channelId, thread, name } = command;
  const stored = await trx
    .insertInto('message_commands')
    .values({
      ...{ id, workspace_id: workspaceId, user_id: userId, home_team_id: homeTeamId ?? null },
      ...{
        kind,
        channel_id: channelId,
        thread_ts: thread?.ts ?? null,
        is_thread_open: thread?.isOpen ? 1 : 0,
      },
      ...{
        name: name ?? null,
        received_at: now,
        has_begun: 0,
        servers: '[]',
        state: 'working',
        due_at: dueAt,
      },
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst();
  return stored !== undefined;
}
