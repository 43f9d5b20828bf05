import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { AppContext } from '../context.ts';
import { defineUseCase, type FollowUpContext, type UseCaseContext } from '../core/entry.ts';
import { isRefusal, Refusal } from '../core/errors.ts';
import type { UserId, WorkspaceId } from '../core/ids.ts';
import { listOwners } from '../core/permission.ts';
import { isCommandLine } from '../core/roles.ts';
import { Secret } from '../core/secret.ts';
import type { ServerList } from '../core/server.ts';
import { beginChain } from '../db/audit.ts';
import { type Foundation, lockWorkspace, type Queries } from '../db/database.ts';
import type { ApiKeyRow } from '../db/tables.ts';
import type { SealedPlace, Vault } from '../db/vault.ts';
import type { HostingApi } from '../hosting/hosting-api.ts';
import { type HostingTrouble, REJECTED, wordsOfHosting } from '../words.ts';

/**
 * Tries a key by reading the list of servers, stores it sealed if that works, and returns the list. Replaces the workspace's key:
 * orders confirmed under another key are refused with `account_changed`. Never sends a paid request.
 * @throws HostingError `unauthorized` (wrong key), `not_allowed` (no top-up yet) and the others of a read
 */
export const connectKey = defineUseCase({
  name: 'connect',
  needs: 'owner',
  effect: 'changes',
  run: (input: { key: Secret<string> }, context): Promise<ServerList> => storeKey(input.key, context),
  follow: (_output, context) => notifyKeyChange('set', context),
});

/** Tries and stores a key for the actor's workspace, as `connectKey` does. @throws HostingError */
export async function storeKey(key: Secret<string>, { actor, app }: UseCaseContext): Promise<ServerList> {
  const list = await app.hostingOf(key, actor.workspaceId).fetchServers({ freshness: 'fresh' });
  await app.apiKeys.put(actor.workspaceId, key, actor.userId, app.system.now());
  return list;
}

/** Removes the workspace's API key; false if there was none. Confirmed orders that wait to be sent are then refused. */
export const disconnectKey = defineUseCase({
  name: 'disconnect',
  needs: 'owner',
  effect: 'changes',
  run: async (_input: Record<never, never>, { actor, app }): Promise<boolean> =>
    app.apiKeys.remove(actor.workspaceId),
  follow: async (wasThere, context) => {
    if (wasThere) await notifyKeyChange('removed', context);
  },
});

/** Longest accepted key, in characters; the specification names no limit (docs/hosting-api.md 5). */
const LONGEST_KEY = 512;

type PastedKey = { readonly key: Secret<string> } | { readonly wrong: 'too_long' | 'not_a_key' };

/** Reads pasted text as a key: one word of visible ASCII, trimmed. Never cut, since a part of a key would be another key. */
export function readKey(pasted: string): PastedKey {
  const key = pasted.trim();
  if (!/^[\x21-\x7e]+$/.test(key)) return { wrong: 'not_a_key' };
  return key.length > LONGEST_KEY ? { wrong: 'too_long' } : { key: new Secret(key) };
}

/** A confirmed operation or approval, with a name of the key that it was confirmed under. */
interface Confirmed {
  readonly workspaceId: WorkspaceId;
  readonly account?: string | undefined;
}

/**
 * Gets the client of the account that something was confirmed for. With another key, it might be paid or deleted in another account.
 * The same key set again is the same account.
 * @throws Refusal `no_api_key`, `account_changed`, `key_unreadable`
 */
export async function getHostingOf(
  { workspaceId, account }: Confirmed,
  { apiKeys, hostingOf }: AppContext,
): Promise<HostingApi> {
  const held = await apiKeys.find(workspaceId);
  if (!held) throw new Refusal('no_api_key', {});
  if (account === undefined || !held.account.includes(account)) throw new Refusal('account_changed', {});
  return hostingOf(held.key, workspaceId);
}

/**
 * Finds the account in which the app can look for an operation that was sent. `other`: the key was replaced since, and its account's
 * list proves nothing.
 */
export async function findSearchedAccount(
  { workspaceId, account }: Confirmed,
  { apiKeys, hostingOf }: AppContext,
) {
  const held = await apiKeys.find(workspaceId).catch((error: unknown) => {
    if (isRefusal(error, 'key_unreadable')) return undefined;
    throw error;
  });
  if (!held) return { kind: 'none' } as const;
  const kind = account !== undefined && held.account.includes(account) ? 'same' : 'other';
  return { kind, hosting: hostingOf(held.key, workspaceId) } as const;
}

/** Says why the hosting API didn't take a key that was tried, in plain text. */
export function keyFailureWords(code: HostingTrouble['code']): string {
  if (code === 'unauthorized')
    return 'The hosting API rejected this key. Check that you copied all of it, or create a new one and try again.';
  return OF_ANY_REQUEST.includes(code) ? wordsOfHosting({ code }) : REJECTED;
}

/** The words of other codes are about orders and servers. */
const OF_ANY_REQUEST: readonly HostingTrouble['code'][] = [
  'rate_limited',
  'no_answer',
  'not_sent',
  'unreadable_answer',
  'unknown_code',
];

/** Why entered text can't be a key, in plain text. */
export const WRONG_KEYS: Readonly<Record<Extract<PastedKey, { wrong: string }>['wrong'], string>> = {
  not_a_key:
    'That doesn’t look like an API key. It’s one line of letters, digits and symbols, without spaces.',
  too_long: `That’s too long for an API key: it can have ${LONGEST_KEY} characters at most. Nothing was stored. Copy only the key and try again.`,
};

export interface KeyChange {
  readonly workspaceId: WorkspaceId;
  readonly actorId: UserId;
  readonly change: 'set' | 'removed';
}

/**
 * Notifies the owners that the workspace's API key was set or removed, since all orders go to that account: in the approvals
 * channel, or directly. Does nothing for the command line, which can't reach Slack.
 */
export async function notifyKeyChange(
  change: KeyChange['change'],
  { actor, app }: FollowUpContext,
): Promise<void> {
  const { workspaceId, userId: actorId } = actor;
  if (isCommandLine(actorId)) return;
  const userIds = await listOwners(workspaceId, app);
  const { channelId } = await app.workspaces.readSettings(workspaceId);
  await app.accountNotifier.notifyKeyChange({ workspaceId, actorId, change }, { channelId, userIds });
}

/** Stores the API key of each workspace, sealed and bound to workspace, setter and time: an altered row can't be opened. */
export function createApiKeys(foundation: Foundation) {
  const { db, engine, vault } = foundation;
  /** Opened keys, by everything that their row says. The row is read at every use; opening it takes longer than reading it. */
  const opened = new LRUCache<string, Secret<string>>({ max: 100 });
  const open = (row: ApiKeyRow): Secret<string> => {
    const stored = JSON.stringify([placeOfKey(row), row.sealed]);
    const key = opened.get(stored) ?? openKey(vault, row);
    opened.set(stored, key);
    return key;
  };
  return {
    /** @throws Refusal `key_unreadable` if `ENCRYPTION_KEYS` lacks the key that sealed it */
    find: async (workspaceId: string) => {
      const row = await findRow(db, workspaceId);
      if (!row) return undefined;
      const key = open(row);
      // `account`: the one that it opens, by all of its names.
      return { key, setBy: row.set_by, account: vault.namesOf(key) };
    },
    put: async (workspaceId: string, key: Secret<string>, setBy: string, at: number): Promise<void> => {
      const facts = { workspace_id: workspaceId, set_by: setBy, set_at: at };
      const row = { ...facts, sealed: vault.seal(key.reveal(), placeOfKey(facts)) };
      await engine.transact(db, async (trx) => {
        await lockWorkspace(trx, workspaceId);
        await beginChain(trx, vault, workspaceId);
        await trx
          .insertInto('api_keys')
          .values(row)
          .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet(row))
          .execute();
      });
      await engine.scrub(db);
    },
    /** False if there was none. */
    remove: async (workspaceId: string): Promise<boolean> => {
      const isRemoved = await engine.transact(db, (trx) => removeKey(trx, workspaceId));
      if (isRemoved) await engine.scrub(db);
      return isRemoved;
    },
    listWorkspaces: async (): Promise<readonly string[]> => {
      const rows = await db.selectFrom('api_keys').select('workspace_id').orderBy('workspace_id').execute();
      return rows.map(({ workspace_id }) => workspace_id);
    },
  };
}

/** Removes the key of a workspace within a transaction. False if there was none. */
export async function removeKey(trx: Queries, workspaceId: string): Promise<boolean> {
  await lockWorkspace(trx, workspaceId);
  const row = await trx
    .deleteFrom('api_keys')
    .where('workspace_id', '=', workspaceId)
    .returning('workspace_id')
    .executeTakeFirst();
  return row !== undefined;
}

async function findRow(db: Queries, workspaceId: string): Promise<ApiKeyRow | undefined> {
  // Written out, like `listFor` of the grants.
  const { rows } = await sql<ApiKeyRow>`select * from api_keys where workspace_id = ${workspaceId}`.execute(
    db,
  );
  return rows[0];
}

/** Lists the names of the key that a workspace has; none without a key. @throws as `Vault.open` does */
export async function listNamesOfKey(
  db: Queries,
  vault: Vault,
  workspaceId: string,
): Promise<readonly string[]> {
  const row = await findRow(db, workspaceId);
  return row ? vault.namesOf(openKey(vault, row)) : [];
}

function openKey(vault: Vault, row: ApiKeyRow): Secret<string> {
  return new Secret(vault.open(row.sealed, placeOfKey(row)));
}

/** Binds a sealed key to its setter and time, so that a row that was altered or partly restored can't be opened. */
export function placeOfKey(row: Omit<ApiKeyRow, 'sealed'>): SealedPlace {
  return {
    table: 'api_keys',
    row: row.workspace_id,
    column: 'sealed',
    workspaceId: row.workspace_id,
    facts: [row.set_by, row.set_at],
  };
}
