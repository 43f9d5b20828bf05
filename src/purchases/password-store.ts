import { sql, type Transaction } from 'kysely';
import { isRefusal } from '../core/errors.ts';
import type { ConfirmationId, ServerId, UserId, WorkspaceId } from '../core/ids.ts';
import { THE_APP } from '../core/roles.ts';
import { Secret } from '../core/secret.ts';
import { addAudit } from '../db/audit.ts';
import type { Foundation, Queries } from '../db/database.ts';
import { addJob } from '../db/jobs.ts';
import type { OperationRow, PasswordRow, Tables } from '../db/tables.ts';
import { type SealedPlace, type Vault, VaultError } from '../db/vault.ts';
import { isErasedSince } from '../installations/store.ts';
import { findRow, labelOf, OPERATION, parsePurchase } from './operation.ts';

/** In the place of a server's ID, where a manager has seen the server in an account that is not connected any more. */
export const UNKNOWN_SERVER: ServerId = 0;

/** A root password that is stored until its creator has saved it. */
export interface HeldPassword {
  readonly operationId: ConfirmationId;
  readonly workspaceId: WorkspaceId;
  readonly creatorId: UserId;
  readonly serverId: ServerId;
  readonly label: string;
  readonly password: Secret<string>;
  /** Epoch milliseconds; absent until its creator has asked to see it. */
  readonly heldUntil?: number;
}

/**
 * Root passwords that wait to be saved (docs/design.md 5). Sealed at rest; opened only to be shown to their creator. Erased ones
 * are gone from the database's files, too.
 */
export function createPasswords({ db, engine, vault }: Foundation) {
  return {
    find: async (operationId: ConfirmationId): Promise<HeldPassword | undefined> => {
      const row = await db
        .selectFrom('passwords')
        .selectAll()
        .where('operation_id', '=', operationId)
        .executeTakeFirst();
      return row && { ...toHeld(row), password: openPassword(vault, row) };
    },
    /** Which servers of this workspace have one, newest first; nothing is opened. */
    listHeld: async (workspaceId: WorkspaceId): Promise<readonly Omit<HeldPassword, 'password'>[]> => {
      // Written out, like `listFor` of the grants.
      const { rows } = await sql<PasswordRow>`
        select * from passwords where workspace_id = ${workspaceId}
        order by settled_at desc, operation_id desc`.execute(db);
      return rows.map(toHeld);
    },
    /** Its creator has asked to see it: it is held for `holdMs` from the first time on. */
    startHold: async (operationId: ConfirmationId, at: number, holdMs: number): Promise<void> => {
      await db
        .updateTable('passwords')
        .set({ held_until: at + holdMs })
        .where('operation_id', '=', operationId)
        .where('held_until', 'is', null)
        .execute();
    },
    erase: async (operationId: ConfirmationId): Promise<void> => {
      await db.deleteFrom('passwords').where('operation_id', '=', operationId).execute();
      await engine.scrub(db);
    },
    /** Erases those whose time is over. One that its creator has not asked to see never expires. */
    eraseExpired: async (now: number): Promise<void> => {
      await db.deleteFrom('passwords').where('held_until', '<=', now).execute();
      // Always: an earlier scrub may have been held up by a process that was reading.
      await engine.scrub(db);
    },
  };
}

interface SettledPassword {
  readonly at: number;
  readonly serverId: ServerId;
  /** Or an answer that was kept before, as it was sealed, if its encryption key is missing. */
  readonly password: Secret<string> | { readonly sealedAnswer: string };
}

/** Seals a new server's password and stores it, in the transaction that settles its operation. */
async function storePassword(
  db: Queries,
  vault: Vault,
  { id, workspace_id, actor_id: creator_id, purchase }: OperationRow,
  { at: settled_at, serverId: server_id, password }: SettledPassword,
): Promise<void> {
  const label = labelOf(parsePurchase(purchase));
  const row = { operation_id: id, workspace_id, creator_id, server_id, label, settled_at, held_until: null };
  const sealed =
    password instanceof Secret ? vault.seal(password.reveal(), placeOfPassword(row)) : password.sealedAnswer;
  await db
    .insertInto('passwords')
    .values({ ...row, sealed })
    .execute();
}

/** Its own place, and that of an answer that couldn't be opened when its order was settled. */
export function placesOfPassword(row: PasswordRow): readonly [SealedPlace, SealedPlace] {
  const { operation_id: id, workspace_id, creator_id: actor_id } = row;
  return [placeOfPassword(row), placeOfAnswer({ id, workspace_id, actor_id })];
}

/** Bound to its creator as well: rewriting the row doesn't make it readable (docs/design.md 5.1). */
function placeOfPassword(row: Omit<PasswordRow, 'sealed'>): SealedPlace {
  return {
    table: 'passwords',
    row: row.operation_id,
    column: 'sealed',
    workspaceId: row.workspace_id,
    facts: [row.creator_id, row.server_id, row.label],
  };
}

/** @throws Refusal `key_unreadable`; VaultError when it was altered */
function openPassword(vault: Vault, row: PasswordRow): Secret<string> {
  const [own, ofAnswer] = placesOfPassword(row);
  try {
    return new Secret(vault.open(row.sealed, own));
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    return asPassword(new Secret(vault.open(row.sealed, ofAnswer)));
  }
}

function toHeld(row: PasswordRow): Omit<HeldPassword, 'password'> {
  return {
    operationId: row.operation_id,
    workspaceId: row.workspace_id,
    creatorId: row.creator_id,
    serverId: row.server_id,
    label: row.label,
    heldUntil: row.held_until ?? undefined,
  };
}

/** Keeps an unclear answer with an operation that is open or refused, or as the password of a server that lacks one. */
export async function keepAnswer(
  trx: Transaction<Tables>,
  foundation: Foundation,
  id: ConfirmationId,
  answer: Secret<string>,
  at: number,
): Promise<void> {
  const row = await findRow(trx, id);
  if (row?.kind !== 'create' || row.has_password === 1) return;
  if (await isErasedSince(trx, row.workspace_id, row.created_at))
    return auditErased(trx, foundation, row, at);
  const { workspace_id: workspaceId } = row;
  const serverId = row.server_id ?? UNKNOWN_SERVER;
  const isFound = row.state === 'settled';
  const change = isFound
    ? { has_password: 1, told_at: 0 }
    : { sealed_answer: row.sealed_answer ?? foundation.vault.seal(answer.reveal(), placeOfAnswer(row)) };
  await trx.updateTable('operations').set(change).where('id', '=', id).execute();
  if (!isFound) return;
  const password = asPassword(answer);
  await storePassword(trx, foundation.vault, row, { at, serverId, password });
  await addJob(trx, foundation, { kind: OPERATION, key: id, workspaceId, dueAt: at });
}

/** Stores the password of a settled order. If the app was uninstalled since, it is erased with the others of the workspace. */
export async function keepPassword(
  trx: Transaction<Tables>,
  foundation: Foundation,
  row: OperationRow,
  settled: SettledPassword,
): Promise<void> {
  if (await isErasedSince(trx, row.workspace_id, row.created_at))
    return auditErased(trx, foundation, row, settled.at, settled.serverId);
  await storePassword(trx, foundation.vault, row, settled);
}

function auditErased(
  trx: Transaction<Tables>,
  foundation: Foundation,
  { id: operationId, workspace_id: workspaceId, purchase }: OperationRow,
  at: number,
  serverId?: ServerId,
): Promise<void> {
  const subject = { operationId, label: labelOf(parsePurchase(purchase)), serverId };
  const act = { actorId: THE_APP, surface: 'background', actId: foundation.newId() } as const;
  const audit = { at, workspaceId, ...act, action: 'password_erased', outcome: 'done', ...subject } as const;
  return addAudit(trx, foundation, audit);
}

/**
 * Opens the answer that an order has kept; undefined if there is none, or it was altered. A missing encryption key must not keep the
 * order from being settled: then it stays as it is.
 */
export function openAnswer(
  { vault }: Foundation,
  row: OperationRow,
): SettledPassword['password'] | undefined {
  const { sealed_answer: sealedAnswer } = row;
  if (sealedAnswer === null) return undefined;
  try {
    return asPassword(new Secret(vault.open(sealedAnswer, placeOfAnswer(row))));
  } catch (error) {
    return isRefusal(error, 'key_unreadable') ? { sealedAnswer } : undefined;
  }
}

/** What is shown to a server's creator instead of a root password that was not recognized. */
function asPassword(answer: Secret<string>): Secret<string> {
  return new Secret(`No root password was recognized. The hosting API answered:\n${answer.reveal()}`);
}

/** Bound to the order's creator, like its password. */
export function placeOfAnswer({
  id,
  workspace_id: workspaceId,
  actor_id,
}: Pick<OperationRow, 'id' | 'workspace_id' | 'actor_id'>): SealedPlace {
  return { table: 'operations', row: id, column: 'sealed_answer', workspaceId, facts: [actor_id] };
}
