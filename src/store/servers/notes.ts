import type { ServerNotes } from '../../app/servers/ports.ts';
import type { ServerNote } from '../../domain/server-note.ts';
import type { Foundation } from '../engine/database.ts';
import { keepPresent } from '../engine/omit-null.ts';
import type { ServerNoteRow } from '../engine/server-tables.ts';

/** What teams noted about their servers. */
export function createServerNotes({ db }: Foundation): ServerNotes {
  return {
    find: async (workspaceId, serverId) => {
      const row = await db
        .selectFrom('server_notes')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('server_id', '=', serverId)
        .executeTakeFirst();
      return row && parseRow(row);
    },
    list: async (workspaceId) => {
      const rows = await db
        .selectFrom('server_notes')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .execute();
      return rows.map(parseRow);
    },
    put: async (workspaceId, { serverId, label, text, contact, notedBy, notedAt }) => {
      const values = {
        ...{ label, note: text, contact: contact ?? null },
        ...{ noted_by: notedBy, noted_at: notedAt },
      };
      await db
        .insertInto('server_notes')
        .values({ workspace_id: workspaceId, server_id: serverId, ...values })
        .onConflict((conflict) => conflict.columns(['workspace_id', 'server_id']).doUpdateSet(values))
        .execute();
    },
    remove: async (workspaceId, serverId) => {
      await db
        .deleteFrom('server_notes')
        .where('workspace_id', '=', workspaceId)
        .where('server_id', '=', serverId)
        .execute();
    },
  };
}

function parseRow(row: ServerNoteRow): ServerNote {
  return {
    serverId: row.server_id,
    label: row.label,
    text: row.note,
    ...keepPresent({ contact: row.contact }),
    notedBy: row.noted_by,
    notedAt: row.noted_at,
  };
}
