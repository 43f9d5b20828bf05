import { type ExpressionBuilder, type Insertable, sql } from 'kysely';
import { z } from 'zod';
import type { AccountNames, ConfirmationId, ServerId, WorkspaceId } from '../core/ids.ts';
import { money } from '../core/money.ts';
import type { Foundation, Queries } from '../db/database.ts';
import type { OperationRow, Tables } from '../db/tables.ts';
import type { DeleteOperation, DeleteReason, Deletion } from '../servers/deletion.ts';
import type { CreatedServer, PricedPurchase } from './costs.ts';
import {
  type ConfirmedOperation,
  claimOf,
  type NewOperation,
  type Operation,
  type OperationRefusal,
  type Purchase,
  SEND_WITHIN_MS,
  type Standing,
  storedPurchase,
  type UnconfirmedReason,
} from './operation.ts';

/** Everything else is as the schema has it for an operation that was not sent. */
export type NewOperationRow = Insertable<Tables['operations']>;

export function toRow(
  operation: Omit<NewOperation, 'purchase'> & { readonly purchase: Purchase | Deletion },
  account: string,
): NewOperationRow {
  const { purchase } = operation;
  return {
    id: operation.id,
    workspace_id: operation.workspaceId,
    actor_id: operation.actorId,
    channel_id: operation.channelId ?? null,
    kind: purchase.kind,
    purchase: JSON.stringify(purchase),
    claim: claimOf(purchase),
    state: 'prepared',
    price: operation.price ?? null,
    server_id: purchase.kind === 'create' ? null : purchase.serverId,
    created_at: operation.at,
    send_by: operation.at + SEND_WITHIN_MS,
    account,
  };
}

/** Reads the row of a purchase. @throws ZodError if what was bought isn't what `toRow` wrote: money must not depend on a guess */
export function toOperation(row: OperationRow): Operation {
  return { ...readColumns(row), purchase: parsePurchase(row.purchase), ...readStanding(row) };
}

function readColumns(row: OperationRow): Omit<ConfirmedOperation, 'purchase'> {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    actorId: row.actor_id,
    knownIds: ids.parse(JSON.parse(row.known_ids)),
    hasPassword: row.has_password === 1,
    needsDecision: row.needs_person === 1,
    isLate: row.is_late === 1,
    createdAt: row.created_at,
    sendBy: row.send_by,
    price: priceOf(row),
    channelId: row.channel_id ?? undefined,
    account: row.account === '' ? undefined : row.account,
    decidedBy: row.decided_by ?? undefined,
    serverId: row.server_id ?? undefined,
    paidUntil: row.paid_until ?? undefined,
    sentAt: row.sent_at ?? undefined,
    endedAt: row.ended_at ?? undefined,
    notifiedAt: row.told_at === 0 ? undefined : row.told_at,
  };
}

const storedDeletion = z.strictObject({
  kind: z.literal('delete'),
  serverId: z.number(),
  label: z.string(),
  paidUntil: z.number().exactOptional(),
}) satisfies z.ZodType<Deletion>;

const storedConfirmed = z.union([storedPurchase, storedDeletion]);

/** Reads what was confirmed, whatever it was. @throws ZodError */
export function parseConfirmed(json: string): Purchase | Deletion {
  return storedConfirmed.parse(JSON.parse(json));
}

/** @throws ZodError */
export function parsePurchase(json: string): Purchase {
  return storedPurchase.parse(JSON.parse(json));
}

const ids = z.array(z.number());

export function toReasonColumns({ code, details }: OperationRefusal | UnconfirmedReason | DeleteReason) {
  return { reason: code, reason_details: JSON.stringify(details) };
}

type StandingColumns = Pick<OperationRow, 'state' | 'reason' | 'reason_details'>;

function readStanding({ state, reason: code, reason_details }: StandingColumns): Standing {
  const reason = { code, details: JSON.parse(reason_details ?? '{}') };
  return { state, ...((state === 'refused' || state === 'unconfirmed') && { reason }) } as Standing;
}

export function findRow(db: Queries, id: ConfirmationId): Promise<OperationRow | undefined> {
  return db.selectFrom('operations').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Finds a delete by the ID of its confirmation. @throws ZodError if what was confirmed isn't what `toRow` wrote */
export async function findDelete(db: Queries, id: ConfirmationId): Promise<DeleteOperation | undefined> {
  const row = await findRow(db, id);
  if (row?.kind !== 'delete') return undefined;
  const deletion = storedDeletion.parse(JSON.parse(row.purchase));
  return { ...readColumns(row), deletion, ...readStanding(row) } as DeleteOperation;
}

export function createLedgerLists({ db }: Foundation) {
  const oldestFirst = () => db.selectFrom('operations').selectAll().orderBy('created_at').orderBy('id');
  const list = async (query: ReturnType<typeof oldestFirst>): Promise<readonly Operation[]> =>
    (await query.execute()).map(toOperation);
  return {
    find: async (id: ConfirmationId): Promise<Operation | undefined> => {
      const row = await findRow(db, id);
      return row && row.kind !== 'delete' ? toOperation(row) : undefined;
    },
    findDelete: (id: ConfirmationId) => findDelete(db, id),
    /** What a settled create of this workspace says about the server that it made; of several with one ID, the newest. */
    findCreated: async (workspaceId: WorkspaceId, serverId: ServerId): Promise<CreatedServer | undefined> => {
      // Written out, like `listFor` of the grants.
      const { rows } = await sql<OperationRow>`
        select * from operations
        where workspace_id = ${workspaceId} and server_id = ${serverId} and kind = 'create' and state = 'settled'
        order by created_at desc, id desc limit 1`.execute(db);
      return rows.flatMap(toCreated)[0];
    },
    /** Operations of this workspace that are neither settled nor refused, oldest first. */
    listOpen: (workspaceId: WorkspaceId) =>
      list(
        oldestFirst()
          .where('workspace_id', '=', workspaceId)
          .where('kind', '<>', 'delete')
          .where('state', 'in', ['prepared', 'sent', 'unconfirmed']),
      ),
    /** Renewals of this server of the account, in any workspace, and of this workspace with any key. */
    listRenewals: (account: AccountNames, workspaceId: WorkspaceId, serverId: ServerId) =>
      list(
        oldestFirst()
          .where('kind', '=', 'renew')
          .where('server_id', '=', serverId)
          .where((column) => isOfAccount(column, account, workspaceId)),
      ),
    /**
     * The IDs among these that settled creates of this account, in any workspace, have been given; with `orOf`, also those of any
     * account that this workspace has used.
     */
    listSettledIds: async (
      account: AccountNames,
      among: readonly ServerId[],
      orOf?: WorkspaceId,
    ): Promise<readonly ServerId[]> => {
      if (among.length === 0) return [];
      const rows = await db
        .selectFrom('operations')
        .select('server_id')
        .where('kind', '=', 'create')
        .where('state', '=', 'settled')
        .where('server_id', 'in', among)
        .where((column) => isOfAccount(column, account, orOf))
        .orderBy('server_id')
        .execute();
      return rows.map(({ server_id }) => server_id).filter((id) => id !== null);
    },
    /** Creates of this account or workspace that may have made a server that is not known: open, or ended without proof. */
    listUnresolvedCreates: (account: AccountNames, workspaceId: WorkspaceId) =>
      list(
        oldestFirst()
          .where('kind', '=', 'create')
          .where((column) => isOfAccount(column, account, workspaceId))
          .where((column) =>
            column.or([
              column('state', 'in', ['sent', 'unconfirmed']),
              column.and([column('state', '=', 'refused'), column('reason', '=', 'decided_not_done')]),
            ]),
          ),
      ),
    /** The same of all servers that were created with this app. */
    listCreated: async (workspaceId: WorkspaceId): Promise<readonly CreatedServer[]> => {
      const created = oldestFirst().where('kind', '=', 'create').where('state', '=', 'settled');
      const rows = await created.where('workspace_id', '=', workspaceId).execute();
      const newest = new Map(rows.map((row) => [row.server_id, row]));
      return [...newest.values()].flatMap(toCreated);
    },
    /** Purchases that were confirmed since then and have paid, may still pay, or were ended without proof that they have not. */
    listPurchases: async (workspaceId: WorkspaceId, since: number): Promise<readonly PricedPurchase[]> => {
      const rows = await db
        .selectFrom('operations')
        .select(['purchase', 'price', 'state', 'reason', 'reason_details'])
        .where('workspace_id', '=', workspaceId)
        .where('kind', '<>', 'delete')
        .where('created_at', '>=', since)
        .where((column) =>
          column.or([column('state', '<>', 'refused'), column('reason', '=', 'decided_not_done')]),
        )
        .orderBy('created_at')
        .orderBy('id')
        .execute();
      return rows.map((row) => ({
        purchase: parsePurchase(row.purchase),
        price: priceOf(row),
        ...readStanding(row),
      }));
    },
  };
}

/** None for an order whose server has no ID in the answer. */
function toCreated(row: OperationRow): readonly CreatedServer[] {
  const purchase = parsePurchase(row.purchase);
  if (row.server_id === null || purchase.kind !== 'create') return [];
  const { id: operationId, server_id: id, actor_id: creatorId, created_at: createdAt, account } = row;
  return [{ operationId, id, order: purchase.order, paid: priceOf(row), creatorId, createdAt, account }];
}

export function isOfAccount(
  column: ExpressionBuilder<Tables, 'operations'>,
  account: AccountNames,
  orOf: WorkspaceId | undefined,
) {
  const ofAccount = column('account', 'in', account);
  return orOf === undefined ? ofAccount : column.or([ofAccount, column('workspace_id', '=', orOf)]);
}

function priceOf({ price }: { readonly price: number | null }) {
  return price === null ? undefined : money(price);
}
