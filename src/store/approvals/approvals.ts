import type { Transaction } from 'kysely';
import type { Approvals } from '../../app/approvals/ports.ts';
import type { NewOperation } from '../../app/purchases/ports.ts';
import type { Approval } from '../../domain/approval.ts';
import { addAudit } from '../account/audit.ts';
import { lockWorkspace } from '../account/workspaces.ts';
import type { Foundation } from '../engine/database.ts';
import type { ApprovalRow, Tables } from '../engine/tables.ts';
import { prepareOperation } from '../purchases/ledger-prepare.ts';
import { toApproval, toApprovalRow } from './approval-rows.ts';

type Decision = Parameters<Approvals['approve']>[1];
type Target = Parameters<Approvals['move']>[2];

/**
 * What waits for a second person. Each change of state names the states that it may start from in its own UPDATE:
 * of two that race, one happens, and only that one is audited.
 */
export function createApprovals(foundation: Foundation): Approvals {
  const { db } = foundation;
  return {
    ...createApprovalLists(foundation),
    request: (approval, audit) =>
      db.transaction().execute(async (trx) => {
        const row = toApprovalRow(approval);
        const inserted = await insert(trx, row);
        if (inserted) await addAudit(trx, foundation, audit);
        return {
          isNew: inserted !== undefined,
          approval: toApproval(inserted ?? (await getWinner(trx, row))),
        };
      }),
    storeCards: async (id, cards) => {
      await db
        .updateTable('approvals')
        .set({ cards: JSON.stringify(cards) })
        .where('id', '=', id)
        .execute();
    },
    markNotified: async (id, state) => {
      await db
        .updateTable('approvals')
        .set({ is_told: 1 })
        .where('id', '=', id)
        .where('state', '=', state)
        .execute();
    },
    // A purchase stays `approved`: what becomes of it, its operation says.
    approve: (id, decision, audit) => {
      const done = db.transaction().execute(async (trx) => {
        const row = await approve(trx, id, decision);
        if (!row) return undefined;
        const approval = toApproval(row);
        const operation = await prepareApproved(trx, approval, decision);
        if (operation && operation.id !== id) {
          await addAudit(trx, foundation, { ...audit, outcome: 'failed', code: PAID_ELSEWHERE });
          return { approval: await makeVoid(trx, id, decision), operation };
        }
        await addAudit(trx, foundation, audit);
        return { approval, ...(operation ? { operation } : {}) };
      });
      return done.catch((error: unknown) => {
        if (error instanceof OverBudget) return 'over_budget' as const;
        throw error;
      });
    },
    move: (id, from, to, audit) =>
      db.transaction().execute(async (trx) => {
        const moved = await trx
          .updateTable('approvals')
          .set(changeTo(to))
          // Who decided stands, whatever becomes of it.
          .set(({ fn, val }) => ({ decided_at: fn.coalesce('decided_at', val(to.at)) }))
          .$if(to.by !== undefined, (update) =>
            update.set(({ fn, val }) => ({ decided_by: fn.coalesce('decided_by', val(to.by ?? null)) })),
          )
          .where('id', '=', id)
          .where('state', 'in', from)
          .returning('id')
          .executeTakeFirst();
        if (moved && audit) await addAudit(trx, foundation, audit);
        return moved !== undefined;
      }),
  };
}

function createApprovalLists({ db }: Foundation): Pick<Approvals, 'find' | 'listOpen' | 'listUnfinished'> {
  const select = () => db.selectFrom('approvals').selectAll();
  return {
    find: async (id) => {
      const row = await select().where('id', '=', id).executeTakeFirst();
      return row && toApproval(row);
    },
    listOpen: async (workspaceId) => {
      const rows = await select()
        .where('workspace_id', '=', workspaceId)
        .where('state', '=', 'open')
        .orderBy('asked_at')
        .orderBy('id')
        .execute();
      return rows.map(toApproval);
    },
    listUnfinished: async ({ now, since, untold }) => {
      const rows = await select()
        .where((column) =>
          column.or([
            column.and([column('is_told', '=', 0), column('changed_at', '<', untold)]),
            column.and([column('state', '=', 'open'), column('expires_at', '<=', now)]),
            column.and([
              column('kind', '=', 'delete'),
              column('state', 'in', ['approved', 'running']),
              column('changed_at', '<', since),
            ]),
          ]),
        )
        .orderBy('asked_at')
        .orderBy('id')
        .execute();
      return rows.map(toApproval);
    },
  };
}

/** Undefined when another one is in the way: the same id, or the same claim. */
async function insert(trx: Transaction<Tables>, row: ApprovalRow): Promise<ApprovalRow | undefined> {
  // One that nobody can approve any more is in nobody's way, though it has not been swept yet.
  await trx
    .updateTable('approvals')
    .set({ claim: '' })
    .where('workspace_id', '=', row.workspace_id)
    .where('claim', '=', row.claim)
    .where('claim', '<>', '')
    .where('expires_at', '<=', row.asked_at)
    .execute();
  return trx
    .insertInto('approvals')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
}

async function getWinner(trx: Transaction<Tables>, row: ApprovalRow): Promise<ApprovalRow> {
  const sameId = await trx.selectFrom('approvals').selectAll().where('id', '=', row.id).executeTakeFirst();
  if (sameId) {
    if (sameId.workspace_id === row.workspace_id) return sameId;
    throw new Error('the id of an approval belongs to another workspace');
  }
  return trx
    .selectFrom('approvals')
    .selectAll()
    .where('workspace_id', '=', row.workspace_id)
    .where('claim', '=', row.claim)
    .executeTakeFirstOrThrow();
}

async function approve(
  trx: Transaction<Tables>,
  id: string,
  { by, at }: Decision,
): Promise<ApprovalRow | undefined> {
  return trx
    .updateTable('approvals')
    .set({ ...changeTo({ state: 'approved', at }), decided_by: by, decided_at: at })
    .where('id', '=', id)
    .where('state', '=', 'open')
    .where('expires_at', '>', at)
    .returningAll()
    .executeTakeFirst();
}

const PAID_ELSEWHERE = 'already_renewed';

/** Within the transaction that approves it: there is no moment in which it looks as if it were being renewed. */
async function makeVoid(trx: Transaction<Tables>, id: string, { at }: Decision): Promise<Approval> {
  const row = await trx
    .updateTable('approvals')
    .set(changeTo({ state: 'void', at, reason: PAID_ELSEWHERE }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return toApproval(row);
}

/** Undoes the transaction that it is thrown in. */
class OverBudget extends Error {}

/** Money effect: what it writes will be paid, within the budget if one is given. @throws OverBudget */
async function prepareApproved(trx: Transaction<Tables>, approval: Approval, { at, budget }: Decision) {
  const { id, workspaceId, requesterId, channelId, action } = approval;
  if (action.kind === 'delete') return undefined;
  const operation: NewOperation = {
    id,
    workspaceId,
    actorId: requesterId,
    purchase: action.purchase,
    at,
    ...(channelId === undefined ? {} : { channelId }),
    ...(action.price === undefined ? {} : { price: action.price }),
  };
  // Whoever is just counting what was spent has to count this, too.
  await lockWorkspace(trx, workspaceId);
  const prepared = await prepareOperation(trx, operation, budget);
  if (prepared.kind === 'over_budget') throw new OverBudget();
  return prepared.operation;
}

function changeTo({ state, at, reason }: Target) {
  return { state, changed_at: at, reason: reason ?? null, is_told: 0, claim: '' };
}
