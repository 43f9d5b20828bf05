import type { Workspaces } from '../app/ports.ts';
import type { Foundation } from './database.ts';

/** The Slack workspaces that the app works for, and their settings. */
export function createWorkspaces({ db }: Foundation): Workspaces {
  return {
    put: async ({ id, name }, at) => {
      await db
        .insertInto('workspaces')
        .values({ id, name, announces: 1, added_at: at })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ name }))
        .execute();
    },
    find: async (id) => {
      const row = await db.selectFrom('workspaces').selectAll().where('id', '=', id).executeTakeFirst();
      return row && { id: row.id, name: row.name, announces: row.announces === 1 };
    },
    setAnnounces: async (id, announces) => {
      await db
        .updateTable('workspaces')
        .set({ announces: announces ? 1 : 0 })
        .where('id', '=', id)
        .execute();
    },
  };
}
