import type { Ledger } from '../../app/purchases/ports.ts';
import type { Foundation } from '../engine/database.ts';
import { toOperation } from './ledger-rows.ts';

const OPEN = ['prepared', 'sent', 'in_doubt'] as const;

/** What is read from the ledger. */
export function createLedgerLists({
  db,
}: Foundation): Pick<
  Ledger,
  'find' | 'findCreateOf' | 'listOpen' | 'countOpen' | 'listOfServer' | 'listSettledIds'
> {
  return {
    find: async (id) => {
      const row = await db.selectFrom('operations').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toOperation(row);
    },
    // Renewals are left out: only the order of a create names the plan.
    findCreateOf: async (workspaceId, serverId) => {
      const row = await db
        .selectFrom('operations')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('server_id', '=', serverId)
        .where('kind', '=', 'create')
        .where('state', '=', 'settled')
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row && toOperation(row);
    },
    listOpen: async (workspaceId) => {
      const rows = await db
        .selectFrom('operations')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('state', 'in', OPEN)
        .orderBy('created_at')
        .orderBy('id')
        .execute();
      return rows.map(toOperation);
    },
    countOpen: async () => {
      const { count } = await db
        .selectFrom('operations')
        .select((column) => column.fn.countAll().as('count'))
        .where('state', 'in', OPEN)
        .executeTakeFirstOrThrow();
      return Number(count);
    },
    listOfServer: async (workspaceId, serverId, limit) => {
      const rows = await db
        .selectFrom('operations')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('server_id', '=', serverId)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .execute();
      return rows.map(toOperation);
    },
    listSettledIds: async (workspaceId, among, after) => {
      if (among.length === 0) return [];
      const rows = await db
        .selectFrom('operations')
        .select('server_id')
        .where('workspace_id', '=', workspaceId)
        .where('kind', '=', 'create')
        .where('state', '=', 'settled')
        .where('server_id', 'in', among)
        .$if(after !== undefined, (select) => select.where('created_at', '>', after ?? 0))
        .execute();
      return rows.map(({ server_id }) => server_id).filter((id) => id !== null);
    },
  };
}
