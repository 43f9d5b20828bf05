import type { Accounts, SeenServer } from '../../app/hosting-api.ts';
import type { Foundation, Queries } from '../engine/database.ts';

/** Which API keys open one hosting account. A name without a row is an account of its own. */
export function createAccounts(foundation: Foundation): Accounts {
  const { db, engine, vault } = foundation;
  return {
    nameOf: (key) => vault.namesOf(key.reveal())[0],
    find: (name) => findAccount(db, name),
    listWorkspaces: async (name) => {
      const rows = await db
        .selectFrom('api_keys')
        .select('workspace_id')
        .where('account', '=', name)
        .orderBy('workspace_id')
        .execute();
      return rows.map(({ workspace_id }) => workspace_id);
    },
    see: (name, servers) => see(foundation, name, servers),
    join: (name, other) => engine.transact(db, (trx) => joinAccounts(trx, name, other)),
  };
}

/** The account that keys of this name open. */
export async function findAccount(db: Queries, name: string): Promise<string> {
  const row = await db
    .selectFrom('account_names')
    .select('account')
    .where('name', '=', name)
    .executeTakeFirst();
  return row?.account ?? name;
}

/** The names of all keys that open the account of this one; none for '', which is no name. */
export async function listAccountNames(db: Queries, name: string): Promise<readonly string[]> {
  if (name === '') return [];
  const account = await findAccount(db, name);
  const rows = await db
    .selectFrom('account_names')
    .select('name')
    .where('account', '=', account)
    .orderBy('name')
    .execute();
  return [...new Set([account, name, ...rows.map((row) => row.name)])];
}

/** In a transaction: what was stored for either account is from then on found for both, the slots of the last minute included. */
export async function joinAccounts(trx: Queries, name: string, other: string): Promise<boolean> {
  const [account, joined] = [await findAccount(trx, name), await findAccount(trx, other)];
  if (account === joined) return false;
  await trx.updateTable('account_names').set({ account }).where('account', '=', joined).execute();
  await trx.insertInto('account_names').values({ name: joined, account }).execute();
  await trx.updateTable('api_calls').set({ account }).where('account', '=', joined).execute();
  return true;
}

/** What was stored under an earlier name of a key stays its account's. */
export async function joinEarlierNames(
  trx: Queries,
  [name, ...earlier]: readonly [string, ...string[]],
): Promise<void> {
  const ordered = await trx
    .selectFrom('operations')
    .select('account as name')
    .distinct()
    .where('account', 'in', earlier)
    .execute();
  const called = await trx
    .selectFrom('api_calls')
    .select('account as name')
    .distinct()
    .where('account', 'in', earlier)
    .execute();
  const joined = await trx
    .selectFrom('account_names')
    .select('name')
    .where((column) => column.or([column('name', 'in', earlier), column('account', 'in', earlier)]))
    .execute();
  const used = new Set([...ordered, ...called, ...joined].map((row) => row.name));
  for (const each of earlier) if (used.has(each)) await joinAccounts(trx, name, each);
}

/** Removes what a key has shown when no workspace has it any more: nothing could be proven with it. */
export async function forgetServers(trx: Queries, name: string): Promise<void> {
  const held = trx.selectFrom('api_keys').select('account').where('account', '=', name);
  await trx.deleteFrom('account_servers').where('name', '=', name).where('name', 'not in', held).execute();
}

async function see(
  { db, engine, vault }: Foundation,
  name: string,
  servers: readonly SeenServer[],
): Promise<readonly string[] | undefined> {
  const proofs = servers.map(({ id, label, ipv4 }) =>
    vault.sign(JSON.stringify([id, label, ipv4]), 'account_server'),
  );
  if (!(await isHeld(db, name))) return undefined;
  // Most of the time nothing has changed, and nothing is written.
  if (!(await hasShown(db, name, proofs)))
    await engine.transact(db, (trx) => replaceProofs(trx, name, proofs));
  if (proofs.length === 0) return [];
  const rows = await db
    .selectFrom('account_servers')
    .select('name')
    .distinct()
    .where('proof', 'in', proofs)
    .where('name', 'not in', await listAccountNames(db, name))
    .orderBy('name')
    .execute();
  return rows.map((row) => row.name);
}

async function isHeld(db: Queries, name: string): Promise<boolean> {
  const row = await db
    .selectFrom('api_keys')
    .select('workspace_id')
    .where('account', '=', name)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether exactly this is stored as what a key has shown last. */
async function hasShown(db: Queries, name: string, proofs: readonly string[]): Promise<boolean> {
  const rows = await db.selectFrom('account_servers').select('proof').where('name', '=', name).execute();
  const before = new Set(rows.map(({ proof }) => proof));
  return before.size === proofs.length && proofs.every((proof) => before.has(proof));
}

/** Nothing is stored of a key that no workspace has by then: it would never be removed. */
async function replaceProofs(trx: Queries, name: string, proofs: readonly string[]): Promise<void> {
  await trx.deleteFrom('account_servers').where('name', '=', name).execute();
  if (proofs.length === 0 || !(await isHeld(trx, name))) return;
  await trx
    .insertInto('account_servers')
    .values(proofs.map((proof) => ({ name, proof })))
    .execute();
}
