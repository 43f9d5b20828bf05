import type { Selectable } from 'kysely';
import type { ConfirmationId } from '../core/ids.ts';
import type { Foundation, Queries } from '../db/database.ts';
import { keepPresent } from '../db/engine.ts';
import type { RenewalBatchesTable } from '../db/tables.ts';
import type { RenewalBatch, RenewalBatches } from './ports.ts';
import { parseRenewals } from './store.ts';

/** Renewals that were reviewed and confirmed together. Each change names the state that it starts from. */
export function createRenewalBatches({ db }: Foundation): RenewalBatches {
  return {
    put: (batch) => put(db, batch),
    find: async (id) => {
      const row = await db.selectFrom('renewal_batches').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toBatch(row);
    },
    confirm: (id, at) => move(db, id, 'open', { state: 'confirmed', at }),
    start: (id, place) => move(db, id, 'confirmed', { started: place + 1 }, place),
    end: (id) => move(db, id, 'confirmed', { state: 'done' }),
    listUnended: async (confirmedBefore) => {
      const rows = await db
        .selectFrom('renewal_batches')
        .selectAll()
        .where('state', '=', 'confirmed')
        .where('at', '<', confirmedBefore)
        .orderBy('at')
        .orderBy('id')
        .execute();
      return rows.map(toBatch);
    },
    removeBefore: async (at) => {
      const old = db.deleteFrom('renewal_batches').where('at', '<', at);
      await old.where('state', '<>', 'confirmed').execute();
    },
  };
}

async function put(
  db: Queries,
  { id, workspaceId, actorId, channelId, renewals, at }: Parameters<RenewalBatches['put']>[0],
): Promise<void> {
  const reviewed = { renewals: JSON.stringify(renewals), at };
  const by = { workspace_id: workspaceId, actor_id: actorId, channel_id: channelId ?? null };
  await db
    .insertInto('renewal_batches')
    .values({ id, ...by, state: 'open', started: 0, ...reviewed })
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet(reviewed)
        .where('renewal_batches.state', '=', 'open')
        .where('renewal_batches.actor_id', '=', actorId)
        .where('renewal_batches.workspace_id', '=', workspaceId),
    )
    .execute();
}

/** False when it is in another state, or more or fewer were begun. */
async function move(
  db: Queries,
  id: ConfirmationId,
  from: RenewalBatch['state'],
  change: Partial<Pick<RenewalBatchesTable, 'state' | 'at' | 'started'>>,
  started?: number,
): Promise<boolean> {
  const query = db
    .updateTable('renewal_batches')
    .set(change)
    .where('id', '=', id)
    .where('state', '=', from)
    .returning('id');
  const moved = started === undefined ? query : query.where('started', '=', started);
  return (await moved.executeTakeFirst()) !== undefined;
}

/** @throws ZodError when the renewals can't be read */
function toBatch(row: Selectable<RenewalBatchesTable>): RenewalBatch {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    actorId: row.actor_id,
    renewals: parseRenewals(row.renewals),
    state: row.state,
    started: row.started,
    at: row.at,
    ...keepPresent({ channelId: row.channel_id }),
  };
}
