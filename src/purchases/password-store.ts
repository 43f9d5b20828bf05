import type { AuditEntry } from '../core/audit-entry.ts';
import type { ConfirmationId, ServerId, WorkspaceId } from '../core/ids.ts';
import { isSameLabel } from '../core/labels.ts';
import { Secret } from '../core/secret.ts';
import type { Foundation, Queries } from '../db/database.ts';
import { keepPresent } from '../db/engine.ts';
import type { PasswordRow } from '../db/tables.ts';
import type { SealedPlace, Vault } from '../db/vault.ts';
import { labelOf, type Operation } from './operation.ts';
import type { HeldPassword, Passwords } from './ports.ts';

/** Root passwords that wait to be saved (docs/design.md 5). Erased ones are gone from the database's files, too. */
export function createPasswords(foundation: Foundation): Passwords {
  const { db } = foundation;
  return {
    find: (operationId) => find(foundation, operationId),
    listHeld: (workspaceId) => listHeld(db, workspaceId),
    countUndelivered: () => countUndelivered(db),
    startHold: (operationId, at, holdMs) => startHold(db, operationId, at, holdMs),
    erase: (operationId) => erase(foundation, operationId),
    eraseExpired: (now) => eraseExpired(foundation, now),
  };
}

async function find(
  { db, vault }: Foundation,
  operationId: ConfirmationId,
): Promise<HeldPassword | undefined> {
  const row = await db
    .selectFrom('passwords')
    .selectAll()
    .where('operation_id', '=', operationId)
    .executeTakeFirst();
  if (!row) return undefined;
  const password = new Secret(vault.open(row.sealed, placeOfPassword(row)));
  return { ...toHeld(row), password };
}

async function listHeld(db: Queries, workspaceId: WorkspaceId) {
  const rows = await db
    .selectFrom('passwords')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .orderBy('settled_at', 'desc')
    .orderBy('operation_id', 'desc')
    .execute();
  return rows.map(toHeld);
}

async function countUndelivered(db: Queries): Promise<number> {
  const { count } = await db
    .selectFrom('passwords')
    .select((column) => column.fn.countAll().as('count'))
    .where('held_until', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

async function startHold(
  db: Queries,
  operationId: ConfirmationId,
  at: number,
  holdMs: number,
): Promise<void> {
  // Only the first time counts: showing it again does not hold it longer.
  await db
    .updateTable('passwords')
    .set({ held_until: at + holdMs })
    .where('operation_id', '=', operationId)
    .where('held_until', 'is', null)
    .execute();
}

async function erase({ db, engine }: Foundation, operationId: ConfirmationId): Promise<boolean> {
  const erased = await db
    .deleteFrom('passwords')
    .where('operation_id', '=', operationId)
    .returning('operation_id')
    .executeTakeFirst();
  if (erased) await engine.scrub(db);
  return erased !== undefined;
}

async function eraseExpired({ db, engine }: Foundation, now: number): Promise<number> {
  const erased = await db
    .deleteFrom('passwords')
    .where('held_until', '<=', now)
    .returning('operation_id')
    .execute();
  // Always: an earlier scrub may have been held up by a process that was reading.
  await engine.scrub(db);
  return erased.length;
}

/** Seals a new server's password and stores it, in the transaction that settles its operation. */
export async function storePassword(
  db: Queries,
  vault: Vault,
  operation: Operation,
  settled: { readonly at: number; readonly serverId: ServerId; readonly password: Secret<string> },
): Promise<void> {
  const { id, workspaceId } = operation;
  const facts: PasswordFacts = {
    operation_id: id,
    workspace_id: workspaceId,
    creator_id: operation.actorId,
    server_id: settled.serverId,
    label: labelOf(operation.purchase),
  };
  const sealed = vault.seal(settled.password.reveal(), placeOfPassword(facts));
  const row: PasswordRow = { ...facts, sealed, settled_at: settled.at, held_until: null };
  await db.insertInto('passwords').values(row).execute();
}

/**
 * Erases the password of a server in the transaction that records its deletion. After a key was replaced, a server of the
 * same ID may be another account's: then its label has to be the same, too.
 */
export async function erasePasswordOfDeleted(trx: Queries, entry: AuditEntry): Promise<void> {
  const { action, outcome, workspaceId, serverId, operationId = '', label = '' } = entry;
  if (action !== 'delete' || outcome !== 'done' || serverId === undefined) return;
  const held = await trx
    .selectFrom('passwords')
    .innerJoin('operations', 'operations.id', 'passwords.operation_id')
    .select(['passwords.operation_id', 'passwords.label', 'operations.account'])
    .where('passwords.workspace_id', '=', workspaceId)
    .where('passwords.server_id', '=', serverId)
    .execute();
  if (held.length === 0) return;
  const own = trx.selectFrom('operations').select('account').where('id', '=', operationId);
  const { account } = (await own.executeTakeFirst()) ?? {};
  const ids = held
    .filter((row) => (account && row.account === account) || isSameLabel(row.label, label))
    .map((row) => row.operation_id);
  if (ids.length > 0) await trx.deleteFrom('passwords').where('operation_id', 'in', ids).execute();
}

type PasswordFacts = Pick<
  PasswordRow,
  'operation_id' | 'workspace_id' | 'creator_id' | 'server_id' | 'label'
>;

/** Bound to its creator as well: who rewrites the row reads nothing (docs/design.md 5.1). */
export function placeOfPassword(row: PasswordFacts): SealedPlace {
  return {
    table: 'passwords',
    row: row.operation_id,
    column: 'sealed',
    workspaceId: row.workspace_id,
    facts: [row.creator_id, row.server_id, row.label],
  };
}

function toHeld(row: PasswordRow): Omit<HeldPassword, 'password'> {
  return {
    operationId: row.operation_id,
    workspaceId: row.workspace_id,
    creatorId: row.creator_id,
    serverId: row.server_id,
    label: row.label,
    ...keepPresent({ heldUntil: row.held_until }),
  };
}
