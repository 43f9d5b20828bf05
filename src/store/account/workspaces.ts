import type { Transaction } from 'kysely';
import type { Workspaces } from '../../app/account/ports.ts';
import { listChanges } from '../../domain/settings.ts';
import type { Foundation } from '../engine/database.ts';
import type { Tables } from '../engine/tables.ts';
import { readSettings, writeSettings } from './stored-settings.ts';
import { countChange } from './versions.ts';

/** The Slack workspaces that the app works for, and their settings. */
export function createWorkspaces({ db, engine }: Foundation): Workspaces {
  return {
    put: async ({ id, name }, at) => {
      await db
        .insertInto('workspaces')
        .values({ id, name, settings: '{}', added_at: at })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ name }))
        .execute();
    },
    find: async (id) => {
      const row = await db.selectFrom('workspaces').selectAll().where('id', '=', id).executeTakeFirst();
      return row && { id: row.id, name: row.name, settings: readSettings(row.settings) };
    },
    changeSettings: (id, was, settings) =>
      engine.transact(db, async (trx) => {
        await lockWorkspace(trx, id);
        const row = await trx
          .selectFrom('workspaces')
          .select('settings')
          .where('id', '=', id)
          .executeTakeFirst();
        // A limit that was set and then not stored would be worse than an error.
        if (!row) throw new Error('settings of a workspace that is not stored');
        if (listChanges(readSettings(row.settings), was).length > 0) return false;
        await trx
          .updateTable('workspaces')
          .set({ settings: writeSettings(row.settings, settings) })
          .where('id', '=', id)
          .execute();
        await countChange(trx, id, 'settings_version');
        return true;
      }),
  };
}

/** Makes other transactions that do the same wait until this one has ended. */
export async function lockWorkspace(trx: Transaction<Tables>, id: string): Promise<void> {
  await trx
    .updateTable('workspaces')
    .set((column) => ({ name: column.ref('name') }))
    .where('id', '=', id)
    .execute();
}
