import { type Insertable, sql, type Transaction } from 'kysely';
import { addGrant } from '../access/grant-store.ts';
import type { NewGrant } from '../access/grants.ts';
import { listNamesOfKey } from '../account/keys.ts';
import type { AuditEntry } from '../core/audit-entry.ts';
import { Refusal } from '../core/errors.ts';
import type { ConfirmationId, PostedMessage, UserId, WorkspaceId } from '../core/ids.ts';
import { addAudit } from '../db/audit.ts';
import type { Foundation, Queries } from '../db/database.ts';
import { addJob } from '../db/jobs.ts';
import { refuseFromBeforeRestore } from '../db/moves.ts';
import type { RequestRow, Tables } from '../db/tables.ts';
import type { Budget } from '../purchases/costs.ts';
import { type Prepared, prepareDelete, prepareOperation } from '../purchases/ledger.ts';
import { claimOf, findDelete } from '../purchases/operation.ts';
import {
  type Approval,
  type ApprovalOutcome,
  type CancelCode,
  type NewApproval,
  type NewRoleRequest,
  REQUEST,
  type Request,
  type RequestOf,
  type RequestState,
  type RoleRequest,
  SUBJECTS,
} from './request.ts';

type Target = ApprovalOutcome & {
  readonly at: number;
  readonly by?: UserId | undefined;
  readonly denialReason?: string | undefined;
};

/** Requests for roles that a user can make in the time that counts: every owner gets a message for each. */
const MOST_REQUESTS = 3;

export type Requests = ReturnType<typeof createRequests>;

/**
 * What users have requested and others decide. Each change of state names the states that it may start from in its own
 * UPDATE: of two changes that race, one happens, and only that one is audited.
 */
export function createRequests(foundation: Foundation) {
  const { db, engine } = foundation;
  const transact = <Result>(work: (trx: Transaction<Tables>) => Promise<Result>) => engine.transact(db, work);
  return {
    /** Finds a request of these kinds: the ID of another one names nothing. An approved delete comes with its operation. */
    find: async <Kind extends Request['kind']>(
      id: ConfirmationId,
      kinds: readonly Kind[],
    ): Promise<RequestOf<Kind> | undefined> => {
      const row = await oldestFirst(db).where('id', '=', id).where('kind', 'in', kinds).executeTakeFirst();
      if (!row) return undefined;
      const isApproved = row.kind === 'delete' && row.state === 'approved';
      const deletion = isApproved ? await findDelete(db, id) : undefined;
      return { ...toRequest(row), deletion } as RequestOf<Kind>;
    },

    /** Oldest first; without `now`, also those whose time is over and that have not been closed yet. */
    listOpen: async <Kind extends Request['kind']>(
      workspaceId: WorkspaceId,
      kinds: readonly Kind[],
      now = 0,
    ): Promise<readonly RequestOf<Kind>[]> => {
      // Written out, like `listFor` of the grants.
      const { rows } = await sql<RequestRow>`
        select * from requests
        where state = 'open' and workspace_id = ${workspaceId} and kind in (${sql.join(kinds)}) and expires_at > ${now}
        order by asked_at, id`.execute(db);
      return rows.map((row) => toRequest(row) as RequestOf<Kind>);
    },

    /**
     * Stores an approval. The same ID again, or an open one about the same server's delete or month, is returned instead.
     * @throws Refusal `restored`
     */
    requestApproval: (
      requested: NewApproval,
      audit: AuditEntry,
    ): Promise<{ readonly isNew: boolean; readonly approval: Approval }> =>
      transact(async (trx) => {
        const [account = ''] = await listNamesOfKey(trx, foundation.vault, requested.workspaceId);
        const { isNew, row } = await insertFirst(trx, toRow(requested, account));
        if (isNew) {
          await refuseFromBeforeRestore(trx, row.id);
          await askFor(trx, foundation, row);
          await addAudit(trx, foundation, audit);
        }
        const approval = toRequest(row);
        if (approval.kind === 'role')
          throw new Error('the ID of an approval belongs to a request for a role');
        return { isNew, approval };
      }),

    /**
     * Stores a request for a role, unless there is one with its ID, or one of the same user for the same role and servers that is
     * open, or was made since `since` and denied: then returns that.
     * @throws Refusal `asked_enough` for a user who has made three requests since then
     */
    requestRole: (
      wanted: NewRoleRequest,
      since: number,
    ): Promise<{ readonly isNew: boolean; readonly request: RoleRequest }> =>
      transact(async (trx) => {
        const wantedRow = toRow(wanted, '');
        const rows = await oldestFirst(trx)
          .where('workspace_id', '=', wantedRow.workspace_id)
          .where('requester_id', '=', wantedRow.requester_id)
          .where('kind', '=', 'role')
          .where('asked_at', '>=', since)
          .execute();
        const denied = rows
          .map(toRoleRequest)
          .findLast((each) => each.state === 'denied' && toClaim(each) === wantedRow.claim);
        if (denied) return { isNew: false, request: denied };
        const { isNew, row } = await insertFirst(trx, wantedRow);
        // Undoes the insert.
        if (isNew && rows.length >= MOST_REQUESTS) throw new Refusal('asked_enough', {});
        if (isNew) await askFor(trx, foundation, row);
        return { isNew, request: toRoleRequest(row) };
      }),

    /**
     * Changes the state of a request that is in one of these; undefined if it is not, or if it was open and its time is over. Only
     * then, and not before, can it expire. Users are not notified of the new state yet, and its job is due.
     */
    move: <Moved extends Request>(
      id: ConfirmationId,
      from: readonly RequestState[],
      to: Target,
      ...audits: readonly AuditEntry[]
    ): Promise<Moved | undefined> =>
      transact(async (trx) => {
        const moved = await move(trx, foundation, id, from, to);
        if (moved) for (const audit of audits) await addAudit(trx, foundation, audit);
        return moved as Moved | undefined;
      }),

    /**
     * open → approved; its operation is prepared in the same transaction (docs/design.md 4.1), within the budget if one
     * is given. What the budget doesn't cover, and a month that was confirmed in the meantime, is canceled in the same
     * transaction and audited as that. Undefined when it is not open any more. Money effect: what it prepares will be sent.
     * A purchase is paid then, and with a delete the rest of the paid month is lost.
     */
    approve: (
      id: ConfirmationId,
      { by, at, budget }: { readonly by: UserId; readonly at: number; readonly budget?: Budget | undefined },
      audit: AuditEntry,
    ): Promise<Approval | undefined> =>
      transact(async (trx) => {
        const approved = await move(trx, foundation, id, ['open'], { state: 'approved', at, by });
        if (!approved) return undefined;
        if (approved.kind === 'role') throw new Error('a role is granted, not approved');
        const { workspaceId, requesterId: actorId, channelId, account } = approved;
        const confirmed = { id, workspaceId, actorId, channelId, account, at };
        if (approved.kind === 'delete') {
          await addAudit(trx, foundation, audit);
          const { kind, serverId, label, paidUntil } = approved;
          const deletion = { kind, serverId, label, paidUntil };
          await prepareDelete(trx, foundation, { ...confirmed, deletion });
          return approved;
        }
        const { purchase, price } = approved;
        const operation = { ...confirmed, purchase, price };
        const prepared = await prepareOperation(trx, foundation, operation, budget);
        const code = whyNotPrepared(prepared, id);
        await addAudit(trx, foundation, code ? { ...audit, outcome: 'failed', code } : audit);
        if (!code) return approved;
        const canceled = await move(trx, foundation, id, ['approved'], {
          state: 'canceled',
          at,
          reason: code,
        });
        return canceled as Approval | undefined;
      }),

    /**
     * open → approved, with its grant in the same transaction. Undefined when it is not open any more. A grant never lowers a
     * role: a higher or longer one that the requester has received since stays, and `granted.until` says so.
     */
    grantRole: (
      id: ConfirmationId,
      { by, at, grant }: { readonly by: UserId; readonly at: number; readonly grant: NewGrant },
    ): Promise<RoleRequest | undefined> =>
      transact(async (trx) => {
        const moved = await move(trx, foundation, id, ['open'], { state: 'approved', at, by });
        if (!moved) return undefined;
        if (moved.kind !== 'role') throw new Error('an approval grants no role');
        if (moved.workspaceId !== grant.workspaceId)
          throw new Error('a request of one workspace can grant no role in another');
        const { until } = await addGrant(trx, foundation.newId(), grant);
        const granted = { role: grant.role, pattern: grant.pattern, until };
        const text = JSON.stringify(granted);
        await trx.updateTable('requests').set({ granted: text }).where('id', '=', id).execute();
        return { ...moved, granted };
      }),

    storeCards: async (id: ConfirmationId, cards: readonly PostedMessage[]): Promise<void> => {
      const text = JSON.stringify(cards);
      await db.updateTable('requests').set({ cards: text }).where('id', '=', id).execute();
    },

    /** Stores that users were notified of that state. If it has changed since, they still have to be notified of the new one. */
    markNotified: async (id: ConfirmationId, state: RequestState): Promise<void> => {
      const update = db.updateTable('requests').set({ is_told: 1 });
      await update.where('id', '=', id).where('state', '=', state).execute();
    },
  };
}

const oldestFirst = (db: Queries) => db.selectFrom('requests').selectAll().orderBy('asked_at').orderBy('id');

/** The process that changes a request reports it at once; another one does if that process has died by then. */
const TELL_MS = 2000;

function askFor(
  trx: Queries,
  foundation: Foundation,
  { id, workspace_id: workspaceId }: RequestRow,
): Promise<void> {
  const dueAt = foundation.engine.clock.now() + TELL_MS;
  return addJob(trx, foundation, { kind: REQUEST, key: id, workspaceId, dueAt });
}

async function move(
  trx: Transaction<Tables>,
  foundation: Foundation,
  id: ConfirmationId,
  from: readonly RequestState[],
  to: Target,
): Promise<Request | undefined> {
  const row = await trx
    .updateTable('requests')
    .set({
      state: to.state,
      outcome: 'reason' in to ? to.reason : null,
      is_told: 0,
      claim: '',
    })
    // `decided_by` and `decided_at` stay, however it ends.
    .set(({ fn, val }) => ({
      decided_at: fn.coalesce('decided_at', val(to.at)),
      decided_by: fn.coalesce('decided_by', val(to.by ?? null)),
      denial_reason: fn.coalesce('denial_reason', val(to.denialReason ?? null)),
    }))
    .where('id', '=', id)
    .where('state', 'in', from)
    .where((column) =>
      to.state === 'expired'
        ? column('expires_at', '<=', to.at)
        : column.or([column('state', '<>', 'open'), column('expires_at', '>', to.at)]),
    )
    .returningAll()
    .executeTakeFirst();
  if (!row) return undefined;
  await askFor(trx, foundation, row);
  return toRequest(row);
}

/** Inserts a request, unless there is one with its ID, or an open one with its claim: then returns that. */
async function insertFirst(
  trx: Queries,
  row: NewRow,
): Promise<{ readonly isNew: boolean; readonly row: RequestRow }> {
  const ofClaim = { workspace_id: row.workspace_id, claim: row.claim };
  // One whose time is over blocks no other, even before it is closed.
  await trx
    .updateTable('requests')
    .set({ claim: '' })
    .where((column) => column.and(ofClaim))
    .where('claim', '<>', '')
    .where('expires_at', '<=', row.asked_at)
    .execute();
  const inserted = await trx
    .insertInto('requests')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (inserted) return { isNew: true, row: inserted };
  const sameClaim = oldestFirst(trx).where((column) => column.and(ofClaim));
  return {
    isNew: false,
    row: (await findSameId(trx, row)) ?? (await sameClaim.executeTakeFirstOrThrow()),
  };
}

async function findSameId(trx: Queries, row: NewRow): Promise<RequestRow | undefined> {
  const same = await trx.selectFrom('requests').selectAll().where('id', '=', row.id).executeTakeFirst();
  if (same && same.workspace_id !== row.workspace_id)
    throw new Error('the ID of a request belongs to another workspace');
  return same;
}

/** Why what was approved was not prepared; undefined if it was. */
function whyNotPrepared(prepared: Prepared, id: ConfirmationId): CancelCode | undefined {
  if (prepared.kind === 'over_budget') return 'over_budget';
  return prepared.operation.id === id ? undefined : 'already_renewed';
}

function toSubject(request: NewApproval | NewRoleRequest): string {
  const names = Object.keys(SUBJECTS[request.kind].shape);
  return JSON.stringify(Object.fromEntries(Object.entries(request).filter(([name]) => names.includes(name))));
}

/** What two open requests of a workspace must not both be about; '' for a create. */
function toClaim(request: NewApproval | NewRoleRequest): string {
  switch (request.kind) {
    case 'purchase':
      return claimOf(request.purchase);
    case 'delete':
      return `delete:${request.serverId}`;
    case 'role':
      return `role:${request.requesterId}:${request.role}:${request.pattern.toLowerCase()}`;
  }
}

type NewRow = Insertable<Tables['requests']>;

function toRow(request: NewApproval | NewRoleRequest, account: string): NewRow {
  return {
    id: request.id,
    workspace_id: request.workspaceId,
    kind: request.kind,
    requester_id: request.requesterId,
    channel_id: request.channelId ?? null,
    subject: toSubject(request),
    claim: toClaim(request),
    is_over_budget: request.kind !== 'role' && request.isOverBudget ? 1 : 0,
    account,
    asked_at: request.requestedAt,
    expires_at: request.expiresAt,
    state: 'open',
  };
}

function toRequest(row: RequestRow): Request {
  const isApproval = row.kind !== 'role';
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    requesterId: row.requester_id,
    requestedAt: row.asked_at,
    expiresAt: row.expires_at,
    state: row.state,
    isNotified: row.is_told === 1,
    cards: JSON.parse(row.cards),
    kind: row.kind,
    ...SUBJECTS[row.kind].parse(JSON.parse(row.subject)),
    ...(isApproval && { isOverBudget: row.is_over_budget === 1, account: row.account }),
    channelId: row.channel_id ?? undefined,
    decidedBy: row.decided_by ?? undefined,
    decidedAt: row.decided_at ?? undefined,
    denialReason: row.denial_reason ?? undefined,
    ...(row.outcome !== null && { reason: row.outcome }),
    ...(row.granted !== null && { granted: JSON.parse(row.granted) }),
  } as Request;
}

function toRoleRequest(row: RequestRow): RoleRequest {
  const request = toRequest(row);
  if (request.kind !== 'role') throw new Error('the ID of a request for a role belongs to an approval');
  return request;
}
