import { isExpected } from '../core/errors.ts';
import { isDeleted, type Server } from '../core/server.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { Foundation, Queries } from '../db/database.ts';
import type { Accounts, FindHosting, HostingApi, SeenServer, Urgency } from '../hosting/hosting-api.ts';
import type { Log } from '../log.ts';
import type { System } from '../system.ts';
import type { ApiKeys } from './ports.ts';

interface RecognitionParts {
  readonly system: Pick<System, 'elapsed'>;
  readonly accounts: Accounts;
  readonly apiKeys: Pick<ApiKeys, 'find'>;
  readonly hostingOf: FindHosting;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** Recognizes that two different API keys open one account (docs/decisions/0018-one-account-in-several-workspaces.md). */
export interface AccountRecognition {
  /** Considers a list that was read with a key for something else, in the background. Never throws. */
  notice(hosting: HostingApi, servers: readonly Server[]): void;
  /**
   * Considers a list now: what is proven on return applies to the next request. An account that can't be read proves nothing,
   * and is no error. Sends only reads.
   */
  recognize(hosting: HostingApi, servers: readonly Server[]): Promise<void>;
}

/** Servers that are compared: those with the lowest IDs, which every key of the account shows. */
const COMPARED = 16;
/** An unchanged list is considered again after this time, when a proof may succeed. */
const AGAIN_MS = 10 * MINUTE_MS;

/** Creates the recognition. It remembers what it has tried in this process only. */
export function createAccountRecognition(parts: RecognitionParts): AccountRecognition {
  const comparisons = createComparisons(parts);
  const considered = new WeakSet<readonly Server[]>();
  return {
    recognize: (hosting, servers) => comparisons.compare(hosting, choose(servers), 'user'),
    notice: (hosting, servers) => {
      // One list answers many reads.
      if (considered.has(servers)) return;
      considered.add(servers);
      const shown = choose(servers);
      if (comparisons.wasCompared(hosting, shown)) return;
      comparisons.compare(hosting, shown, 'background').catch((error: unknown) => {
        parts.log.warn('an account could not be compared with others', { cause: nameOf(error) });
      });
    },
  };
}

/** Remembers which lists were compared and which proofs were tried, so that nothing is read repeatedly. */
function createComparisons(parts: RecognitionParts) {
  const { system, accounts } = parts;
  const compared = new Map<string, { readonly shown: string; readonly until: number }>();
  const running = new Map<string, Promise<void>>();
  const restsUntil = new Map<string, number>();

  /** Runs one proof at a time for two keys; concurrent callers share it. */
  const prove = (signs: Signs): Promise<void> => {
    const pair = `${signs.hosting.account} ${signs.name}`;
    const begun = running.get(pair);
    if (begun) return begun;
    if (system.elapsed() < (restsUntil.get(pair) ?? 0)) return Promise.resolve();
    const run = join(signs, parts)
      .then(() => void restsUntil.set(pair, system.elapsed() + AGAIN_MS))
      .finally(() => running.delete(pair));
    running.set(pair, run);
    return run;
  };

  return {
    wasCompared: ({ account }: HostingApi, shown: readonly SeenServer[]): boolean => {
      const before = compared.get(account);
      return before !== undefined && system.elapsed() < before.until && before.shown === keyOf(shown);
    },
    compare: async (hosting: HostingApi, shown: readonly SeenServer[], urgency: Urgency): Promise<void> => {
      const names = await accounts.see(hosting.account, shown);
      if (!names) return;
      compared.set(hosting.account, { shown: keyOf(shown), until: system.elapsed() + AGAIN_MS });
      for (const name of names) await prove({ hosting, name, shown, urgency });
    },
  };
}

/** Servers that one key has shown, some of which the key with `name` has shown, too. */
interface Signs {
  readonly hosting: HostingApi;
  readonly name: string;
  readonly shown: readonly SeenServer[];
  readonly urgency: Urgency;
}

/**
 * Joins two accounts if a server is listed under one key, then under the other, and then under the first again: at the time of the
 * second list it was in both, with the same ID, label and address, and two servers can't have one address.
 */
async function join({ hosting, name, shown, urgency }: Signs, parts: RecognitionParts): Promise<void> {
  const { accounts, log } = parts;
  const how = { freshness: 'fresh', urgency } as const;
  try {
    const other = await findHostingBy(name, parts);
    if (!other) return;
    const theirs = (await other.fetchServers(how)).servers;
    // What was stored of that key may have been old.
    await accounts.see(name, choose(theirs));
    const common = shown.filter((server) => theirs.some((one) => isSame(one, server)));
    if (common.length === 0) return;
    const ours = (await hosting.fetchServers(how)).servers;
    if (!common.some((server) => ours.some((one) => isSame(one, server)))) return;
    if (await accounts.join(name, hosting.account))
      log.info('two API keys open one hosting account', { names: `${hosting.account} ${name}` });
  } catch (error) {
    if (!isExpected(error)) throw error;
    log.warn('two API keys could not be compared', {
      names: `${hosting.account} ${name}`,
      cause: error.code,
    });
  }
}

/** Finds a client with the key of that name, if a workspace has one that can be read. */
async function findHostingBy(
  name: string,
  { accounts, apiKeys, hostingOf }: RecognitionParts,
): Promise<HostingApi | undefined> {
  for (const workspaceId of await accounts.listWorkspaces(name)) {
    const held = await apiKeys.find(workspaceId).catch((error: unknown) => {
      if (isExpected(error)) return undefined;
      throw error;
    });
    // The key may have been replaced or renamed since.
    if (held && accounts.nameOf(held.key) === name) return hostingOf(held.key, workspaceId);
  }
  return undefined;
}

/** Chooses the servers to compare. One without a public address proves nothing: private addresses are used repeatedly. */
function choose(servers: readonly Server[]): readonly SeenServer[] {
  return servers
    .filter((server): server is Server & SeenServer => !isDeleted(server) && isPublic(server.ipv4))
    .sort((a, b) => a.id - b.id)
    .slice(0, COMPARED)
    .map(({ id, label, ipv4 }) => ({ id, label, ipv4 }));
}

function isSame(server: Server, { id, label, ipv4 }: SeenServer): boolean {
  return server.id === id && server.label === label && server.ipv4 === ipv4 && !isDeleted(server);
}

function keyOf(shown: readonly SeenServer[]): string {
  return JSON.stringify(shown);
}

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
/** Private, shared, loopback, link-local, multicast and reserved addresses (RFC 6890). */
const NOT_PUBLIC =
  /^(?:0|10|127|22[4-9]|2[34]\d|25\d)\.|^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|^169\.254\.|^172\.(?:1[6-9]|2\d|3[01])\.|^192\.168\./;

function isPublic(ipv4: string | undefined): boolean {
  return ipv4 !== undefined && IPV4.test(ipv4) && !NOT_PUBLIC.test(ipv4);
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}

/** Stores which API keys open one hosting account. A name without a row is an account of its own. */
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

/** Finds the account that a key of this name opens. */
export async function findAccount(db: Queries, name: string): Promise<string> {
  const row = await db
    .selectFrom('account_names')
    .select('account')
    .where('name', '=', name)
    .executeTakeFirst();
  return row?.account ?? name;
}

/** Lists the names of all keys that open the account of this one; none for '', which is no name. */
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

/** Joins two accounts, the limiter's slots included, so that what is stored for one is found for both. False if they were one. */
async function joinAccounts(trx: Queries, name: string, other: string): Promise<boolean> {
  const [account, joined] = [await findAccount(trx, name), await findAccount(trx, other)];
  if (account === joined) return false;
  await trx.updateTable('account_names').set({ account }).where('account', '=', joined).execute();
  await trx.insertInto('account_names').values({ name: joined, account }).execute();
  await trx.updateTable('api_calls').set({ account }).where('account', '=', joined).execute();
  return true;
}

/** Joins the earlier names of a key with its current one, so that what is stored under them stays with its account. */
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

/** Removes what a key has shown if no workspace has the key any more: nothing could be proven with it. */
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

/** Whether exactly these proofs are stored for the key. */
async function hasShown(db: Queries, name: string, proofs: readonly string[]): Promise<boolean> {
  const rows = await db.selectFrom('account_servers').select('proof').where('name', '=', name).execute();
  const before = new Set(rows.map(({ proof }) => proof));
  return before.size === proofs.length && proofs.every((proof) => before.has(proof));
}

/** Replaces a key's proofs. Stores none for a key that no workspace has any more, since they would never be removed. */
async function replaceProofs(trx: Queries, name: string, proofs: readonly string[]): Promise<void> {
  await trx.deleteFrom('account_servers').where('name', '=', name).execute();
  if (proofs.length === 0 || !(await isHeld(trx, name))) return;
  await trx
    .insertInto('account_servers')
    .values(proofs.map((proof) => ({ name, proof })))
    .execute();
}
