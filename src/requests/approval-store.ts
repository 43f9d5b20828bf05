import { sql, type Transaction } from 'kysely';
import { z } from 'zod';
import { lockWorkspace } from '../account/workspaces.ts';
import type { AuditEntry } from '../core/audit-entry.ts';
import type { Reason } from '../core/errors.ts';
import type { ConfirmationId } from '../core/ids.ts';
import { money } from '../core/money.ts';
import { addAudit } from '../db/audit.ts';
import type { Foundation } from '../db/database.ts';
import { refuseFromBeforeRestore } from '../db/moves.ts';
import { parseKnown, readKnown } from '../db/stored-reason.ts';
import type { ApprovalRow, Tables } from '../db/tables.ts';
import { readVersions } from '../db/versions.ts';
import { prepareOperation } from '../purchases/ledger.ts';
import { storedPurchase } from '../purchases/ledger-rows.ts';
import { claimOf } from '../purchases/operation.ts';
import type { NewOperation } from '../purchases/ports.ts';
import type { Approvals } from './approval.ts';
import {
  APPROVAL_STATES,
  type Approval,
  type ApprovalAction,
  type ApprovalOutcome,
  type ApprovalState,
  type CancelDetails,
  type DeleteEndDetails,
  type NewApproval,
} from './decision.ts';
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
      return readKnown(rows, toApproval);
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
  const prepared = await prepareApproved(trx, approval, decision);
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
async function prepareApproved(trx: Transaction<Tables>, approval: Approval, { at, budget }: Decision) {
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
  const prepared = await prepareOperation(trx, operation, budget);
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
export function toApprovalRow(approval: NewApproval, keyGeneration: number): ApprovalRow {
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

/** A row of the approvals, whose state is not checked yet. */
type StoredApproval = Omit<ApprovalRow, 'state'> & { readonly state: string };

/** Reads a row of the approvals. @throws Refusal `newer_version` when only a newer version of the app can read it */
function toApproval(row: StoredApproval): Approval {
  return {
    ...fromDecisionColumns(row),
    ...readOutcome(row),
    requesterId: row.requester_id,
    action: parseKnown(action, JSON.parse(row.deed)),
    isOverBudget: row.is_over_budget === 1,
    keyGeneration: row.key_generation,
  };
}

/** What two open approvals must not both be about; empty for a create. */
function claimOfAction(wanted: ApprovalAction): string {
  return wanted.kind === 'delete' ? `delete:${wanted.serverId}` : claimOf(wanted.purchase);
}

/** How each reason is read: one that is missing here does not compile. */
type ReasonSchemas<Details> = { readonly [Code in keyof Details]: z.ZodType<Reason<Details, Code>> };

const UNREADABLE = { code: 'unreadable', details: {} } as const;

function plain<Code extends string>(code: Code) {
  return z.object({ code: z.literal(code), details: z.object({}) });
}

const CANCEL_REASONS: ReasonSchemas<CancelDetails> = {
  role_needed: plain('role_needed'),
  account_changed: plain('account_changed'),
  unknown_server: plain('unknown_server'),
  label_differs: plain('label_differs'),
  server_protected: plain('server_protected'),
  already_renewed: plain('already_renewed'),
  unknown_choice: plain('unknown_choice'),
  price_moved: plain('price_moved'),
  over_budget: plain('over_budget'),
  stale_confirmation: plain('stale_confirmation'),
  restored: plain('restored'),
  unreadable: plain('unreadable'),
};

const DELETE_ENDS: ReasonSchemas<DeleteEndDetails> = {
  done: plain('done'),
  server_protected: plain('server_protected'),
  no_answer: plain('no_answer'),
  lost_account: plain('lost_account'),
  defect: plain('defect'),
  unauthorized: plain('unauthorized'),
  not_allowed: plain('not_allowed'),
  bad_request: plain('bad_request'),
  not_enough_balance: plain('not_enough_balance'),
  limit: plain('limit'),
  not_created: plain('not_created'),
  checking: plain('checking'),
  not_found: plain('not_found'),
  wrong_state: plain('wrong_state'),
  rate_limited: plain('rate_limited'),
  not_sent: plain('not_sent'),
  no_api_key: plain('no_api_key'),
  account_changed: plain('account_changed'),
  key_unreadable: z.object({ code: z.literal('key_unreadable'), details: z.object({ keyId: z.string() }) }),
  waited_too_long: plain('waited_too_long'),
  shutting_down: plain('shutting_down'),
  unreadable: plain('unreadable'),
};

const cancelReason = z.union(Object.values(CANCEL_REASONS)).catch(UNREADABLE);
const deleteEnd = z.union(Object.values(DELETE_ENDS)).catch(UNREADABLE);

interface OutcomeColumns {
  readonly state: string;
  readonly reason: string | null;
  /** JSON; NULL if there is no reason, or if an older version wrote the row. */
  readonly reason_details: string | null;
}

/**
 * Reads an approval's state and reason. A reason that this version doesn't know becomes `unreadable`.
 * @throws Refusal `newer_version` for a state that it doesn't know
 */
export function readOutcome(row: OutcomeColumns): ApprovalOutcome {
  const state = parseKnown(z.enum(APPROVAL_STATES), row.state);
  const details: unknown = row.reason_details === null ? {} : JSON.parse(row.reason_details);
  const stored = { code: row.reason, details };
  if (state === 'canceled') return { state, reason: cancelReason.parse(stored) };
  if (state === 'ended') return { state, reason: deleteEnd.parse(stored) };
  return { state };
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
