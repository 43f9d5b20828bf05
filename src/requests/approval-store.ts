import { sql, type Transaction } from 'kysely';
import { z } from 'zod';
import { lockWorkspace } from '../account/workspaces.ts';
import type { AuditEntry } from '../core/audit-entry.ts';
import type { ConfirmationId } from '../core/ids.ts';
import { money } from '../core/money.ts';
import { addAudit } from '../db/audit.ts';
import type { Foundation } from '../db/database.ts';
import { refuseFromBeforeRestore } from '../db/moves.ts';
import type { ApprovalRow, Tables } from '../db/tables.ts';
import { readVersions } from '../db/versions.ts';
import { prepareOperation } from '../purchases/ledger.ts';
import { storedPurchase } from '../purchases/ledger-rows.ts';
import { claimOf } from '../purchases/operation.ts';
import type { NewOperation } from '../purchases/ports.ts';
import type { Approvals } from './approval.ts';
import type { Approval, ApprovalAction, ApprovalOutcome, ApprovalState, NewApproval } from './decision.ts';
import { createDecisionStore, fromDecisionColumns, toDecisionColumns } from './store.ts';

type Decision = Parameters<Approvals['approve']>[1];
type Target = Parameters<Approvals['move']>[2];

/**
 * Approvals by a second user. Each change of state names the states that it may start from in its own UPDATE: of two
 * changes that race, one happens, and only that one is audited.
 */
export function createApprovals(foundation: Foundation): Approvals {
  const { db, engine } = foundation;
  return {
    ...createDecisionStore(foundation, {
      table: 'approvals',
      changedAt: sql.ref('changed_at'),
      onExpiry: (now) => ({ changed_at: now, claim: '' }),
      read: toApproval,
    }),
    request: (approval, audit) => engine.transact(db, (trx) => addApproval(trx, foundation, approval, audit)),
    approve: (id, decision, audit) => {
      const done = engine.transact(db, (trx) => approve(trx, foundation, id, decision, audit));
      return done.catch((error: unknown) => {
        if (error instanceof OverBudget) return 'over_budget' as const;
        throw error;
      });
    },
    move: (id, from, to, ...audits) =>
      engine.transact(db, async (trx) => {
        const isMoved = await move(trx, id, from, to);
        if (isMoved) for (const audit of audits) await addAudit(trx, foundation, audit);
        return isMoved;
      }),
    listUnfinishedDeletes: async (before) => {
      const rows = await db
        .selectFrom('approvals')
        .selectAll()
        .where('kind', '=', 'delete')
        .where('state', 'in', ['approved', 'running'])
        .where('changed_at', '<', before)
        .orderBy('asked_at')
        .orderBy('id')
        .execute();
      return rows.map(toApproval);
    },
  };
}

async function move(
  trx: Transaction<Tables>,
  id: ConfirmationId,
  from: readonly ApprovalState[],
  to: Target,
): Promise<boolean> {
  const moved = await trx
    .updateTable('approvals')
    .set(changeTo(to, to.at))
    // `decided_by` and `decided_at` stay, however it ends.
    .set(({ fn, val }) => ({
      decided_at: fn.coalesce('decided_at', val(to.at)),
      decided_by: fn.coalesce('decided_by', val(to.by ?? null)),
      denial_reason: fn.coalesce('denial_reason', val(to.denialReason ?? null)),
    }))
    .where('id', '=', id)
    .where('state', 'in', from)
    .returning('id')
    .executeTakeFirst();
  return moved !== undefined;
}

async function addApproval(
  trx: Transaction<Tables>,
  foundation: Foundation,
  requested: NewApproval,
  audit: AuditEntry,
): Promise<{ isNew: boolean; approval: Approval }> {
  const { key } = await readVersions(trx, requested.workspaceId);
  const row = toApprovalRow(requested, key);
  const inserted = await insert(trx, row);
  if (inserted) {
    await refuseFromBeforeRestore(trx, inserted.id);
    await addAudit(trx, foundation, audit);
  }
  const approval = toApproval(inserted ?? (await getEarlier(trx, row)));
  return { isNew: inserted !== undefined, approval };
}

/** Undefined if another approval has the same ID or the same claim. */
async function insert(trx: Transaction<Tables>, row: ApprovalRow): Promise<ApprovalRow | undefined> {
  // An expired one blocks no other, even before the sweep.
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

async function getEarlier(trx: Transaction<Tables>, row: ApprovalRow): Promise<ApprovalRow> {
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

/** Approves it and prepares its purchase. It stays `approved`; its operation has the outcome. */
async function approve(
  trx: Transaction<Tables>,
  foundation: Foundation,
  id: ConfirmationId,
  decision: Decision,
  audit: AuditEntry,
): Promise<Exclude<Awaited<ReturnType<Approvals['approve']>>, 'over_budget'>> {
  const row = await markApproved(trx, id, decision);
  if (!row) return undefined;
  const approval = toApproval(row);
  const prepared = await prepareApproved(trx, foundation, approval, decision);
  const operation = prepared?.kind === 'claimed_elsewhere' ? undefined : prepared?.operation;
  if (prepared && operation?.id !== id) {
    const code = ALREADY_RENEWED.reason.code;
    await addAudit(trx, foundation, { ...audit, outcome: 'failed', code });
    return { approval: await cancelRenewed(trx, id, decision), operation };
  }
  await addAudit(trx, foundation, audit);
  return { approval, operation };
}

async function markApproved(
  trx: Transaction<Tables>,
  id: ConfirmationId,
  { by, at }: Decision,
): Promise<ApprovalRow | undefined> {
  return trx
    .updateTable('approvals')
    .set({ ...changeTo({ state: 'approved' }, at), decided_by: by, decided_at: at })
    .where('id', '=', id)
    .where('state', '=', 'open')
    .where('expires_at', '>', at)
    .returningAll()
    .executeTakeFirst();
}

const ALREADY_RENEWED = { state: 'canceled', reason: { code: 'already_renewed', details: {} } } as const;

/** Cancels it within the transaction that approves it, so that it never looks as if it were being renewed. */
async function cancelRenewed(
  trx: Transaction<Tables>,
  id: ConfirmationId,
  { at }: Decision,
): Promise<Approval> {
  const row = await trx
    .updateTable('approvals')
    .set(changeTo(ALREADY_RENEWED, at))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return toApproval(row);
}

/** Thrown to undo a transaction. */
class OverBudget extends Error {}

/** Money effect: what it writes will be paid, within the budget if one is given. @throws OverBudget */
async function prepareApproved(
  trx: Transaction<Tables>,
  foundation: Foundation,
  approval: Approval,
  { at, budget }: Decision,
) {
  const { id, workspaceId, requesterId, channelId, action, keyGeneration } = approval;
  if (action.kind === 'delete') return undefined;
  const operation: NewOperation = {
    id,
    workspaceId,
    actorId: requesterId,
    purchase: action.purchase,
    at,
    keyGeneration,
    channelId,
    price: action.price,
  };
  // A concurrent transaction that adds up spending has to count this, too.
  await lockWorkspace(trx, workspaceId);
  const prepared = await prepareOperation(trx, foundation, operation, budget);
  if (prepared.kind === 'over_budget') throw new OverBudget();
  return prepared;
}

function changeTo(outcome: ApprovalOutcome, at: number) {
  return { ...toOutcomeColumns(outcome), changed_at: at, is_told: 0, claim: '' };
}

/** Strict, as purchases are: what is approved is all that was confirmed. */
const action = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('purchase'),
    purchase: storedPurchase,
    price: z.number().transform(money).exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('delete'),
    serverId: z.number(),
    label: z.string(),
    paidUntil: z.number().exactOptional(),
  }),
]);

/** Makes the row of an approval that was just requested. */
function toApprovalRow(approval: NewApproval, keyGeneration: number): ApprovalRow {
  return {
    ...toDecisionColumns(approval),
    requester_id: approval.requesterId,
    kind: approval.action.kind,
    deed: JSON.stringify(approval.action),
    claim: claimOfAction(approval.action),
    is_over_budget: approval.isOverBudget ? 1 : 0,
    changed_at: approval.requestedAt,
    reason: null,
    reason_details: null,
    key_generation: keyGeneration,
  };
}

function toApproval(row: ApprovalRow): Approval {
  return {
    ...fromDecisionColumns(row),
    ...readOutcome(row),
    requesterId: row.requester_id,
    action: action.parse(JSON.parse(row.deed)),
    isOverBudget: row.is_over_budget === 1,
    keyGeneration: row.key_generation,
  };
}

function readOutcome({ state, reason: code, reason_details }: ApprovalRow): ApprovalOutcome {
  const reason = { code, details: JSON.parse(reason_details ?? '{}') };
  return { state, ...((state === 'canceled' || state === 'ended') && { reason }) } as ApprovalOutcome;
}

/** What two open approvals must not both be about; empty for a create. */
function claimOfAction(wanted: ApprovalAction): string {
  return wanted.kind === 'delete' ? `delete:${wanted.serverId}` : claimOf(wanted.purchase);
}

/** Makes the columns of an outcome. */
function toOutcomeColumns(outcome: ApprovalOutcome) {
  const { state } = outcome;
  const reason = 'reason' in outcome ? outcome.reason : undefined;
  return {
    state,
    reason: reason?.code ?? null,
    reason_details: reason === undefined ? null : JSON.stringify(reason.details),
  };
}
