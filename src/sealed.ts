import { sql } from 'kysely';
import { placeOfKey } from './account/keys.ts';
import type { AuditEntry } from './core/audit-entry.ts';
import { isRefusal } from './core/errors.ts';
import { THE_COMMAND_LINE } from './core/roles.ts';
import { Secret } from './core/secret.ts';
import { addAudit } from './db/audit.ts';
import type { Foundation } from './db/database.ts';
import { placeOfReplyUrl } from './db/kept.ts';
import type { ApiKeyRow, InstallationRow, KeptRow, OperationRow, PasswordRow } from './db/tables.ts';
import type { SealedPlace } from './db/vault.ts';
import { placeOfTokens } from './installations/store.ts';
import { placeOfAnswer, placesOfPassword } from './purchases/password-store.ts';
import { placeOfRunToken } from './workflows/store.ts';

/** A column with sealed texts. */
interface Column {
  readonly name: string;
  readonly table: string;
  /** The column that names a row. */
  readonly id: string;
  readonly column: string;
  /** Which rows have one, besides those where it isn't NULL. */
  readonly only?: string;
  /** Where a row's text may have been sealed. */
  placesOf(row: Row): readonly SealedPlace[];
}

type Row = Readonly<Record<string, unknown>>;

const byId = ({ id, workspace_id }: Row) => ({ id: String(id), workspaceId: String(workspace_id) });

/** Every column that the vault seals; a test compares it with what an app has stored. */
const COLUMNS: readonly Column[] = [
  {
    name: 'API keys',
    table: 'api_keys',
    id: 'workspace_id',
    column: 'sealed',
    placesOf: (row) => [placeOfKey(row as unknown as ApiKeyRow)],
  },
  {
    name: 'root passwords',
    table: 'passwords',
    id: 'operation_id',
    column: 'sealed',
    placesOf: (row) => placesOfPassword(row as unknown as PasswordRow),
  },
  {
    name: 'answers to orders',
    table: 'operations',
    id: 'id',
    column: 'sealed_answer',
    placesOf: (row) => [placeOfAnswer(row as unknown as OperationRow)],
  },
  {
    name: 'Slack tokens',
    table: 'installations',
    id: 'id',
    column: 'sealed',
    placesOf: (row) => [placeOfTokens(row as unknown as InstallationRow)],
  },
  {
    name: 'workflow tokens',
    table: 'workflow_runs',
    id: 'id',
    column: 'sealed_token',
    placesOf: (row) => [placeOfRunToken(byId(row))],
  },
  {
    name: 'reply addresses',
    table: 'kept',
    id: 'id',
    column: 'value',
    only: 'reply_url',
    placesOf: (row) => [placeOfReplyUrl(String(row.id), (row as unknown as KeptRow).workspace_id)],
  },
];

/** A sealed text as it is stored. */
interface Sealed {
  readonly kind: Column;
  readonly id: string;
  readonly token: string;
  readonly places: readonly SealedPlace[];
}

/** What a key of the keyring, or one that is missing from it, is still needed for. */
export interface KeyUse {
  readonly keyId: string;
  readonly isMissing: boolean;
  /** How many texts it encrypts, by what they are. */
  readonly encrypts: Readonly<Record<string, number>>;
  /** How many entries of the audit log it signs. */
  readonly signs: number;
  /** How many open orders and requests name the hosting account by it. */
  readonly names: number;
}

/** A text that can't be opened, and why. */
export interface Unopened {
  readonly what: string;
  readonly id: string;
  readonly why: 'key_missing' | 'altered';
}

/** How many rows are read at once. */
const PAGE = 200;
/** Rows that others change in the meantime are read again. */
const MOST_PASSES = 5;

/** Everything in the database that a key of `ENCRYPTION_KEYS` has encrypted, signed or named. */
export function createSealedTexts(foundation: Foundation) {
  return {
    openAll: () => openAll(foundation),
    listKeyUse: (encrypts: EncryptedBy) => listKeyUse(foundation, encrypts),
    /**
     * Encrypts under the first key what is encrypted under another one, row by row, and renames accounts by that key. The app may
     * be running: a row that was changed since it was read is left as it is, and read again. Can be ended at any time and run
     * again. What doesn't open stays as it is. Calls `onResealed` with the number of texts so far. Audited in each workspace unless
     * there was nothing to encrypt.
     */
    reseal: async (onResealed: (count: number) => void): Promise<number> => {
      let count = 0;
      const actId = foundation.newId();
      let isAudited = false;
      let isChanging = true;
      for (let pass = 1; isChanging && pass <= MOST_PASSES; pass++) {
        isChanging = false;
        const apiKeys: Secret<string>[] = [];
        for await (const sealed of walk(foundation)) {
          const opened = open(foundation, sealed);
          if ('why' in opened) continue;
          if (keyOf(sealed.token) !== foundation.vault.sealingKeyId) {
            if (!isAudited) await audit(foundation, actId, 'started');
            isAudited = true;
            if (await replace(foundation, sealed, opened)) onResealed(++count);
            else isChanging = true;
          }
          if (sealed.kind.table === 'api_keys') apiKeys.push(new Secret(opened.plain));
        }
        // Last: a process with only the old key doesn't see an order by its new name. Once no API key opens for it, it sends nothing.
        if (!isChanging) for (const apiKey of apiKeys) await renameAccount(foundation, apiKey);
      }
      if (isAudited && !isChanging) await audit(foundation, actId, 'done');
      return count;
    },
  };
}

/** The ID of the key that made a token of the vault. */
function keyOf(token: string): string {
  return token.split('.')[1] ?? '';
}

/** Whether a column has a token of this key. */
function isUnder(column: string, keyId: string) {
  const start = `v1.${keyId}.`;
  return sql`substr(${sql.ref(column)}, 1, ${sql.lit(start.length)}) = ${start}`;
}

function selectSealed({ table, column, only }: Column) {
  const filter = only === undefined ? sql`` : sql` and kind = ${only}`;
  return sql`select * from ${sql.table(table)} where ${sql.ref(column)} is not null${filter}`;
}

/** Reads every sealed text, page by page. */
async function* walk({ db }: Foundation): AsyncGenerator<Sealed> {
  for (const kind of COLUMNS) {
    for (let after = '', isLast = false; !isLast; ) {
      const id = sql.ref(kind.id);
      const page = sql<Row>`${selectSealed(kind)} and ${id} > ${after} order by ${id} limit ${sql.lit(PAGE)}`;
      const { rows } = await page.execute(db);
      for (const row of rows) {
        after = String(row[kind.id]);
        yield { kind, id: after, token: String(row[kind.column]), places: kind.placesOf(row) };
      }
      isLast = rows.length < PAGE;
    }
  }
}

interface Opened {
  readonly plain: string;
  readonly place: SealedPlace;
}

/** Decrypts a text, or says why it can't be. */
function open({ vault }: Foundation, { kind, id, token, places }: Sealed): Opened | Unopened {
  for (const place of places)
    try {
      return { plain: vault.open(token, place), place };
    } catch (error) {
      if (isRefusal(error, 'key_unreadable')) return { what: kind.name, id, why: 'key_missing' };
    }
  return { what: kind.name, id, why: 'altered' };
}

/** Seals a text under the first key, unless its row was changed since it was read. */
async function replace(
  { db, engine, vault }: Foundation,
  { kind, id, token }: Sealed,
  { plain, place }: Opened,
): Promise<boolean> {
  const column = sql.ref(kind.column);
  const fresh = vault.seal(plain, place);
  const only = kind.only === undefined ? sql`` : sql` and kind = ${kind.only}`;
  const update = sql`update ${sql.table(kind.table)} set ${column} = ${fresh}
    where ${sql.ref(kind.id)} = ${id} and ${column} = ${token}${only} returning ${sql.ref(kind.id)}`;
  const { rows } = await engine.transact(db, (trx) => update.execute(trx));
  return rows.length === 1;
}

/** Adds an entry to the chain of each workspace, sorted, since chains are always locked in the same order. */
async function audit(foundation: Foundation, actId: string, outcome: AuditEntry['outcome']): Promise<void> {
  const { db, engine } = foundation;
  const act = { actorId: THE_COMMAND_LINE, surface: 'cli', action: 'key_rotate', actId, outcome } as const;
  await engine.transact(db, async (trx) => {
    const workspaces = await trx.selectFrom('workspaces').select('id').orderBy('id').execute();
    for (const { id: workspaceId } of workspaces)
      await addAudit(trx, foundation, { ...act, at: engine.clock.now(), workspaceId });
  });
}

/** Tables that name a hosting account, each with the column that names a row. */
const ACCOUNTS = { operations: 'id', requests: 'id', digests: 'workspace_id' } as const;

/** Names the account of an API key by the first key, wherever it is named by another one: a key that is gone names nothing. */
async function renameAccount({ db, engine, vault }: Foundation, key: Secret<string>): Promise<void> {
  const [first, ...others] = vault.namesOf(key);
  if (others.length === 0) return;
  for (const [name, id] of Object.entries(ACCOUNTS)) {
    const [table, rowId] = [sql.table(name), sql.ref(id)];
    const named = sql`select ${rowId} from ${table} where account in (${sql.join(others)}) limit ${sql.lit(PAGE)}`;
    const update = sql`update ${table} set account = ${first} where ${rowId} in (${named}) returning ${rowId}`;
    for (let isLast = false; !isLast; ) {
      const { rows } = await engine.transact(db, (trx) => update.execute(trx));
      isLast = rows.length < PAGE;
    }
  }
}

/** How many texts each key encrypts, by what they are. */
type EncryptedBy = ReadonlyMap<string, Readonly<Record<string, number>>>;

/** Tries to open every text. `missingKeys`: IDs of those that texts need and that the keyring lacks. */
async function openAll(foundation: Foundation) {
  const unopened: Unopened[] = [];
  const encrypts = new Map<string, Record<string, number>>();
  let count = 0;
  for await (const sealed of walk(foundation)) {
    count++;
    const opened = open(foundation, sealed);
    if ('why' in opened) unopened.push(opened);
    const counts = encrypts.get(keyOf(sealed.token)) ?? {};
    counts[sealed.kind.name] = (counts[sealed.kind.name] ?? 0) + 1;
    encrypts.set(keyOf(sealed.token), counts);
  }
  const missingKeys = [...encrypts.keys()].filter((keyId) => !foundation.vault.checks.has(keyId));
  return { count, unopened, missingKeys, encrypts };
}

/** Lists what each key is used for: those of the keyring in its order, then those that are missing. */
async function listKeyUse({ db, vault }: Foundation, encrypts: EncryptedBy): Promise<readonly KeyUse[]> {
  const used = await db.selectFrom('facts').select('id').where('kind', '=', 'key').orderBy('at').execute();
  const keyIds = new Set([...vault.checks.keys(), ...encrypts.keys(), ...used.map(({ id }) => id)]);
  const uses: KeyUse[] = [];
  for (const keyId of keyIds) {
    const count = async (table: string, column: string, states: readonly string[] = []) => {
      const among = states.length === 0 ? sql`` : sql` and state in (${sql.join(states)})`;
      const { rows } = await sql<{ count: number }>`
        select count(*) as count from ${sql.table(table)} where ${isUnder(column, keyId)}${among}`.execute(
        db,
      );
      return Number(rows[0]?.count ?? 0);
    };
    const names = await count('operations', 'account', ['prepared', 'sent', 'unconfirmed']);
    uses.push({
      keyId,
      isMissing: !vault.checks.has(keyId),
      encrypts: encrypts.get(keyId) ?? {},
      signs: await count('audit', 'mac'),
      names: names + (await count('requests', 'account', ['open'])),
    });
  }
  return uses;
}
