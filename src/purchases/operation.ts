import { type ExpressionBuilder, type Insertable, sql } from 'kysely';
import { z } from 'zod';
import type { AppContext } from '../context.ts';
import type { AuditEntry } from '../core/audit-entry.ts';
import {
  findUnanswered,
  type HostingCode,
  HostingError,
  type NoDetails,
  type Reason,
  Refusal,
  type RefusalDetails,
} from '../core/errors.ts';
import type { AccountNames, ChannelId, ConfirmationId, ServerId, UserId, WorkspaceId } from '../core/ids.ts';
import { type Money, money } from '../core/money.ts';
import type { Secret } from '../core/secret.ts';
import { DAY_MS, MINUTE_MS } from '../core/time.ts';
import type { Foundation, Queries } from '../db/database.ts';
import type { OperationRow, Tables } from '../db/tables.ts';
import type { DeleteOperation, DeleteReason } from '../servers/deletion.ts';
import type { CreatedServer } from './costs.ts';

/**
 * The states of a paid operation (docs/design.md 4):
 * prepared (confirmed, nothing sent) → sent (committed before the request leaves) →
 * settled (done and paid), refused (not done) or unconfirmed (looked for, never sent again).
 */
export type OperationState = OperationStatus['state'];

/** A state, and why it was refused or is unconfirmed. */
export type StatusOf<Refused, Unconfirmed> =
  | { readonly state: 'prepared' | 'sent' | 'settled'; readonly reason?: never }
  | { readonly state: 'refused'; readonly reason: Refused }
  | { readonly state: 'unconfirmed'; readonly reason: Unconfirmed };

export type OperationStatus = StatusOf<OperationRefusal, UnconfirmedReason>;

/** An order as it is stored, in a button or in a form. */
export const orderValue = z.strictObject({
  plan: z.string().min(1),
  location: z.string().min(1),
  image: z.string().min(1),
  label: z.string().min(1),
});

/** As it is stored. Strict: what is bought is all that was confirmed. */
export const storedPurchase = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('create'),
    order: orderValue,
    /** The servers with the same label that the review showed; absent: none. */
    namesakeIds: z.array(z.number()).readonly().exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('renew'),
    serverId: z.number(),
    label: z.string(),
    /** Epoch milliseconds. */
    paidUntil: z.number(),
  }),
]);

export const storedDeletion = z.strictObject({
  kind: z.literal('delete'),
  serverId: z.number(),
  label: z.string(),
  /** The end of the paid time that a second user has approved to lose, in epoch milliseconds; absent if the API doesn't say. */
  paidUntil: z.number().exactOptional(),
});

/** A delete, exactly as it was confirmed. */
export type Deletion = z.output<typeof storedDeletion>;

/** What a user confirmed: a create, or a renewal of the month that ends at the `paidUntil` they saw. */
export type Purchase = z.output<typeof storedPurchase>;

/** What was confirmed is sent within this time, or not at all (docs/design.md 4.7). */
export const SEND_WITHIN_MS = 2 * MINUTE_MS;

/** How far two readings of the clock may differ without it having been set back. */
export const CLOCK_SLACK_MS = 10_000;

/** Whether it may still be sent: a clock that was set back since shortens the time for that, and never makes it longer. */
export function isInTime(
  { createdAt, sendBy }: Pick<ConfirmedOperation, 'createdAt' | 'sendBy'>,
  now: number,
): boolean {
  return now <= sendBy && createdAt <= now + CLOCK_SLACK_MS;
}

/** The kind of job that moves an operation, also a delete, on until it has ended and its actor was notified; its key is the operation's ID. */
export const OPERATION = 'operation';

/** One confirmation of a purchase by one user, and its outcome. A row of the ledger; a `DeleteOperation` is the other kind. */
export type Operation = ConfirmedOperation & OperationStatus;

interface Confirmed {
  readonly id: ConfirmationId;
  readonly workspaceId: WorkspaceId;
  readonly actorId: UserId;
  /** Where the actor is notified; absent when the form was not opened from a channel. */
  readonly channelId?: ChannelId;
  readonly purchase: Purchase;
  /** The monthly price that was confirmed; absent for a renewal of a server that was not created with this app. */
  readonly price?: Money;
  /** The first name of the key that it was confirmed under or sent with; absent without a key. A new one without it gets the key of now. */
  readonly account?: string;
}

export interface NewOperation extends Confirmed {
  readonly at: number;
}

export interface ConfirmedOperation extends Confirmed {
  /** Server ids that existed just before a create was sent: a server with another id is new. */
  readonly knownIds: readonly ServerId[];
  readonly serverId?: ServerId;
  /** Epoch milliseconds, after a settled renewal. */
  readonly paidUntil?: number;
  /** False if the server was only found later, and its password was in an answer that never arrived. */
  readonly hasPassword: boolean;
  readonly createdAt: number;
  /** After this it is not sent any more; epoch milliseconds. */
  readonly sendBy: number;
  readonly sentAt?: number;
  readonly endedAt?: number;
  /** When the actor was notified of this state; absent until then. */
  readonly notifiedAt?: number;
  /** A manager has to decide. The app keeps looking for it. */
  readonly needsDecision: boolean;
  /** The manager who decided what became of it; absent once the API's own answer has said that it was done. */
  readonly decidedBy?: UserId;
  /** It was found after it had been ended without proof: the earlier message was wrong. */
  readonly isLate: boolean;
}

/** Whether it was carried out by a manager's word alone: neither the API's own answer nor a list has proven it since. */
export function isOnlyDecided({ state, decidedBy, paidUntil, isLate }: Operation): boolean {
  return state === 'settled' && decidedBy !== undefined && paidUntil === undefined && !isLate;
}

/** Whether what was sent may still turn out to be done: unconfirmed, or ended without proof. */
export function isLookedFor({ state, reason, endedAt }: Operation | DeleteOperation): boolean {
  if (state === 'unconfirmed') return endedAt === undefined;
  return state === 'refused' && reason.code === 'decided_not_done';
}

/** The milliseconds since it was sent; negative if the clock was set back to before that (docs/design.md 4.9). */
export function doubtedFor(
  { sentAt, createdAt }: Pick<ConfirmedOperation, 'sentAt' | 'createdAt'>,
  now: number,
): number {
  return now - (sentAt ?? createdAt);
}

/** How long a notification is retried. After that, a password can still be shown by `/vps password`. */
export const NOTIFY_MS = DAY_MS;

/**
 * Returns when an operation is looked at next: first within seconds, then less and less often, with no end. A look comes after
 * half of the time since it was sent, 5 minutes at most, and later after a twelfth of it, a day at most; a notification
 * is tried at least every 5 minutes.
 */
export function nextDueAt(operation: Operation | DeleteOperation, now: number): number {
  const { notifiedAt, endedAt, createdAt } = operation;
  const isLooking = notifiedAt !== undefined && isLookedFor(operation);
  // A clock that was set back, perhaps by a year, must not let it be tried every moment until then.
  const passed = Math.abs(isLookedFor(operation) ? doubtedFor(operation, now) : now - (endedAt ?? createdAt));
  const nextMs = Math.min(Math.max(passed / 2, 1500), 5 * MINUTE_MS);
  return Math.round(now + (isLooking ? Math.min(Math.max(nextMs, passed / 12), DAY_MS) : nextMs));
}

export function confirmedOf(operation: Operation | DeleteOperation): Purchase | Deletion {
  return 'deletion' in operation ? operation.deletion : operation.purchase;
}

export function labelOf(confirmed: Purchase | Deletion): string {
  return confirmed.kind === 'create' ? confirmed.order.label : confirmed.label;
}

/**
 * An operation's claim: the month of the server that no other operation may pay for (docs/design.md 4.1).
 * Empty for a create: two creates are two servers, and its own id stops a second press. A delete blocks nothing either.
 */
export function claimOf(confirmed: Purchase | Deletion): string {
  return confirmed.kind === 'renew' ? `renew:${confirmed.serverId}:${confirmed.paidUntil}` : '';
}

/** Refused with proof: by a rule before it was sent, or the API said that it did nothing (docs/hosting-api.md 7). */
export type ProvenRefusalDetails = RefusalDetails & {
  readonly [Code in HostingCode | 'unknown_code']: NoDetails;
} & {
  /** A defect of ours occurred before anything was sent. */
  readonly defect: NoDetails;
};
export type ProvenRefusal = Reason<ProvenRefusalDetails>;

type OperationRefusalDetails = ProvenRefusalDetails & {
  /** A manager checked the hosting account and decided it, without proof: never described as "nothing was charged". */
  readonly decided_not_done: NoDetails;
};
export type OperationRefusal = Reason<OperationRefusalDetails>;

export interface UnconfirmedDetails {
  /** The supplier did not confirm: the service completes the order or returns the charge (docs/hosting-api.md 7). */
  readonly checking: NoDetails;
  readonly no_answer: NoDetails;
  readonly unreadable_answer: NoDetails;
  readonly unknown_code: NoDetails;
  readonly defect: NoDetails;
  /** The API key was set after the confirmation: the servers that can be listed now may be another account's. */
  readonly account_changed: NoDetails;
  /** The API or the server list shows what fits no outcome. */
  readonly contradiction: NoDetails;
  /** It has not appeared while the app was looking for `DOUBT_MINUTES`. */
  readonly not_found_yet: NoDetails;
  /** There is no API key with which it could be looked for. */
  readonly no_api_key: NoDetails;
  /** The API rejects the key with which it is looked for. */
  readonly key_rejected: NoDetails;
  /** The database was restored from a backup, which does not have the outcome. */
  readonly restored: NoDetails;
}
export type UnconfirmedReason = Reason<UnconfirmedDetails>;

/** Whether it is proven that nothing was charged, or that the charge was returned. */
export function isProven(reason: OperationRefusal): reason is ProvenRefusal {
  return reason.code !== 'decided_not_done';
}

/** The refusal that an error proves; undefined for a defect. */
export function refusalOf(error: unknown): ProvenRefusal | undefined {
  if (error instanceof HostingError) return { code: error.code, details: {} };
  return error instanceof Refusal
    ? ({ code: error.code, details: error.details } as ProvenRefusal)
    : undefined;
}

/** A paid request got an answer that fits no possible outcome. Money effect: it may have been paid. */
export class ContradictoryAnswer extends Error {
  override readonly name = 'ContradictoryAnswer';
  /** What the answer to a create held, for its creator alone. */
  readonly sealedAnswer: Secret<string> | undefined;

  constructor(sealedAnswer?: Secret<string>) {
    super('a contradictory answer');
    this.sealedAnswer = sealedAnswer;
  }
}

/** Why the outcome of a paid request that ended in this error is unknown. */
export function unconfirmedReasonOf(error: unknown): UnconfirmedReason {
  if (error instanceof ContradictoryAnswer) return { code: 'contradiction', details: {} };
  if (!(error instanceof HostingError)) return { code: 'defect', details: {} };
  return { code: findUnanswered(error) ?? 'unreadable_answer', details: {} };
}

/** The audit entry of an operation's change of state, by the user who confirmed it. All entries of an operation are one act. */
export function auditOfOperation(
  operation: Operation | DeleteOperation,
  app: AppContext,
  outcome: AuditEntry['outcome'],
  more: Partial<AuditEntry> = {},
): AuditEntry {
  const { id, workspaceId, actorId, channelId, price: money } = operation;
  const confirmed = confirmedOf(operation);
  const act = { actId: id, operationId: id, action: confirmed.kind, surface: 'modal', money } as const;
  const serverId = confirmed.kind === 'create' ? undefined : confirmed.serverId;
  const subject = { workspaceId, actorId, channelId, serverId, label: labelOf(confirmed) };
  return { at: app.system.now(), ...act, ...subject, outcome, ...more };
}

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
  return { ...readColumns(row), purchase: parsePurchase(row.purchase), ...readStatus(row) };
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
    price: row.price === null ? undefined : money(row.price),
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

/** Reads what was confirmed, whatever it was. @throws ZodError */
export function parseConfirmed(json: string): Purchase | Deletion {
  return z.union([storedPurchase, storedDeletion]).parse(JSON.parse(json));
}

/** @throws ZodError */
export function parsePurchase(json: string): Purchase {
  return storedPurchase.parse(JSON.parse(json));
}

const ids = z.array(z.number());

export function toReasonColumns({ code, details }: OperationRefusal | UnconfirmedReason | DeleteReason) {
  return { reason: code, reason_details: JSON.stringify(details) };
}

function readStatus({
  state,
  reason: code,
  reason_details,
}: Pick<OperationRow, 'state' | 'reason' | 'reason_details'>): OperationStatus {
  const reason = { code, details: JSON.parse(reason_details ?? '{}') };
  return { state, ...((state === 'refused' || state === 'unconfirmed') && { reason }) } as OperationStatus;
}

export function findRow(db: Queries, id: ConfirmationId): Promise<OperationRow | undefined> {
  return db.selectFrom('operations').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Finds a delete by the ID of its confirmation. @throws ZodError if what was confirmed isn't what `toRow` wrote */
export async function findDelete(db: Queries, id: ConfirmationId): Promise<DeleteOperation | undefined> {
  const row = await findRow(db, id);
  return row?.kind === 'delete' ? toDelete(row) : undefined;
}

function toDelete(row: OperationRow): DeleteOperation {
  const deletion = storedDeletion.parse(JSON.parse(row.purchase));
  return { ...readColumns(row), deletion, ...readStatus(row) } as DeleteOperation;
}

/**
 * How often other creates of this account or workspace were ever marked as sent. It tells whether one was since, whatever the clocks
 * of processes say.
 */
export async function countSends(
  db: Queries,
  { id, workspace_id: workspaceId }: Pick<OperationRow, 'id' | 'workspace_id'>,
  account: AccountNames,
): Promise<number> {
  const { sends } = await db
    .selectFrom('operations')
    .select(({ fn }) => fn.sum('attempt').as('sends'))
    .where('kind', '=', 'create')
    .where('id', '<>', id)
    .where((column) => isOfAccount(column, account, workspaceId))
    .executeTakeFirstOrThrow();
  return Number(sends ?? 0);
}

export function createLedgerLists({ db }: Foundation) {
  const oldestFirst = () => db.selectFrom('operations').selectAll().orderBy('created_at').orderBy('id');
  const list = async (query: ReturnType<typeof oldestFirst>): Promise<readonly Operation[]> =>
    (await query.execute()).map(toOperation);
  const listOf = async (workspaceId: WorkspaceId, serverIds: readonly ServerId[]) => {
    if (serverIds.length === 0) return [];
    const purchases = oldestFirst().where('workspace_id', '=', workspaceId).where('kind', '<>', 'delete');
    return list(purchases.where('server_id', 'in', serverIds));
  };
  return {
    find: async (id: ConfirmationId): Promise<Operation | undefined> => {
      const row = await findRow(db, id);
      return row && row.kind !== 'delete' ? toOperation(row) : undefined;
    },
    findDelete: (id: ConfirmationId) => findDelete(db, id),
    /** When an operation is due again; undefined when it has ended and its actor was notified. */
    findNextDue: async (id: ConfirmationId, now: number): Promise<number | undefined> => {
      const row = await findRow(db, id);
      const operation = row && (row.kind === 'delete' ? toDelete(row) : toOperation(row));
      if (!operation) return undefined;
      const { endedAt, notifiedAt } = operation;
      const isOver = endedAt !== undefined && notifiedAt !== undefined && !isLookedFor(operation);
      return isOver ? undefined : nextDueAt(operation, now);
    },
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
    listOpen: async (workspaceId: WorkspaceId): Promise<readonly Operation[]> => {
      const { rows } = await sql<OperationRow>`
        select * from operations
        where workspace_id = ${workspaceId} and kind <> 'delete' and state in ('prepared', 'sent', 'unconfirmed')
        order by created_at, id`.execute(db);
      return rows.map(toOperation);
    },
    /** Renewals of this server of the account, in any workspace, and of this workspace with any key. */
    listRenewals: (account: AccountNames, workspaceId: WorkspaceId, serverId: ServerId) =>
      list(
        oldestFirst()
          .where('kind', '=', 'renew')
          .where('server_id', '=', serverId)
          .where((column) => isOfAccount(column, account, workspaceId)),
      ),
    /** Renewals of these servers, other than refused ones; the newest last. */
    listRenewalsOf: async (workspaceId: WorkspaceId, serverIds: readonly ServerId[]) =>
      (await listOf(workspaceId, serverIds)).filter(
        ({ purchase, state }) => purchase.kind === 'renew' && state !== 'refused',
      ),
    /** Settled purchases of these servers whose price is known; the newest last. */
    listPriced: async (workspaceId: WorkspaceId, serverIds: readonly ServerId[]) =>
      (await listOf(workspaceId, serverIds)).filter(
        ({ price, state }) => price !== undefined && state === 'settled',
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
    countSends: ({ id, workspaceId }: Pick<Operation, 'id' | 'workspaceId'>, account: AccountNames) =>
      countSends(db, { id, workspace_id: workspaceId }, account),
    /**
     * Creates of this account or workspace that may have made a server that is not known: open, ended without proof, or decided to have
     * made one that couldn't be seen.
     */
    listUnresolvedCreates: (account: AccountNames, workspaceId: WorkspaceId) =>
      list(
        oldestFirst()
          .where('kind', '=', 'create')
          .where((column) => isOfAccount(column, account, workspaceId))
          .where((column) =>
            column.or([
              column('state', 'in', ['sent', 'unconfirmed']),
              column.and([column('state', '=', 'refused'), column('reason', '=', 'decided_not_done')]),
              column.and([column('state', '=', 'settled'), column('server_id', 'is', null)]),
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
    listPurchases: (workspaceId: WorkspaceId, since: number) =>
      list(
        oldestFirst()
          .where('workspace_id', '=', workspaceId)
          .where('kind', '<>', 'delete')
          .where('created_at', '>=', since)
          .where((column) =>
            column.or([column('state', '<>', 'refused'), column('reason', '=', 'decided_not_done')]),
          ),
      ),
  };
}

/** None for an order whose server has no ID in the answer. */
function toCreated(row: OperationRow): readonly CreatedServer[] {
  const purchase = parsePurchase(row.purchase);
  if (row.server_id === null || purchase.kind !== 'create') return [];
  const { id: operationId, server_id: id, actor_id: creatorId, created_at: createdAt, account } = row;
  return [
    {
      operationId,
      id,
      order: purchase.order,
      paid: row.price === null ? undefined : money(row.price),
      creatorId,
      createdAt,
      account,
    },
  ];
}

export function isOfAccount(
  column: ExpressionBuilder<Tables, 'operations'>,
  account: AccountNames,
  orOf: WorkspaceId | undefined,
) {
  const ofAccount = column('account', 'in', account);
  return orOf === undefined ? ofAccount : column.or([ofAccount, column('workspace_id', '=', orOf)]);
}
