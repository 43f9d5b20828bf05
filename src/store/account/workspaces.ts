import type { Transaction } from 'kysely';
import type { Workspaces } from '../../app/account/ports.ts';
import { DEFAULT_SETTINGS, listChanges, type WorkspaceSettings } from '../../domain/settings.ts';
import type { Foundation } from '../engine/database.ts';
import type { Tables } from '../engine/tables.ts';
import { countChange } from './versions.ts';

/** The Slack workspaces that the app works for, and their settings. */
export function createWorkspaces({ db }: Foundation): Workspaces {
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
      db.transaction().execute(async (trx) => {
        await lockWorkspace(trx, id);
        const row = await trx
          .selectFrom('workspaces')
          .select('settings')
          .where('id', '=', id)
          .executeTakeFirst();
        // A limit that somebody set and that is not kept would be worse than an error.
        if (!row) throw new Error('the settings of a workspace that is not there');
        if (listChanges(readSettings(row.settings), was).length > 0) return false;
        await trx
          .updateTable('workspaces')
          .set({ settings: JSON.stringify(settings) })
          .where('id', '=', id)
          .execute();
        await countChange(trx, id, 'settings_version');
        return true;
      }),
  };
}

/** Makes everybody wait who does the same, until this transaction has ended. */
export async function lockWorkspace(trx: Transaction<Tables>, id: string): Promise<void> {
  await trx
    .updateTable('workspaces')
    .set((column) => ({ name: column.ref('name') }))
    .where('id', '=', id)
    .execute();
}

type Stored = { [Name in keyof WorkspaceSettings]?: Partial<WorkspaceSettings[Name]> };

/**
 * Reads what `changeSettings` of any version wrote: what that one did not know is as by default. What can't be read
 * at all is an error, since by default there are no limits.
 */
function readSettings(text: string): WorkspaceSettings {
  const stored = JSON.parse(text) as Stored;
  return {
    ...DEFAULT_SETTINGS,
    ...(stored as Partial<WorkspaceSettings>),
    approval: { ...DEFAULT_SETTINGS.approval, ...stored.approval },
    budget: { ...DEFAULT_SETTINGS.budget, ...stored.budget },
  };
}
