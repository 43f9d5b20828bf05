import type { Transaction } from 'kysely';
import { z } from 'zod';
import type { Workspaces } from '../../app/account/ports.ts';
import { money } from '../../domain/money.ts';
import { DEFAULT_SETTINGS, listChanges, type WorkspaceSettings } from '../../domain/settings.ts';
import type { Foundation } from '../engine/database.ts';
import type { Tables } from '../engine/tables.ts';

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
        // A limit that was set and then not stored would be worse than an error.
        if (!row) throw new Error('settings of a workspace that is not stored');
        if (listChanges(readSettings(row.settings), was).length > 0) return false;
        await trx
          .updateTable('workspaces')
          .set({ settings: JSON.stringify(settings) })
          .where('id', '=', id)
          .execute();
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

const amount = z.number().int().min(0).transform(money).exactOptional();

/** Every setting that is missing was not known to the version that stored the rest, and has its default. */
const storedSettings = z.looseObject({
  announces: z.boolean().default(DEFAULT_SETTINGS.announces),
  approval: z
    .looseObject({
      delete: z.boolean().default(DEFAULT_SETTINGS.approval.delete),
      renew: z.boolean().default(DEFAULT_SETTINGS.approval.renew),
      createAbove: amount,
    })
    .prefault({}),
  budget: z.looseObject({ workspace: amount, person: amount }).prefault({}),
  channelId: z.string().exactOptional(),
});

/**
 * Reads what `changeSettings` of any version wrote.
 * @throws ZodError, SyntaxError when it can't be read: the defaults have no limits, so they must not take its place
 */
function readSettings(text: string): WorkspaceSettings {
  return storedSettings.parse(JSON.parse(text));
}
