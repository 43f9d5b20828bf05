import { type ClientBase, Pool, types } from 'pg';
import { DatabaseUnusable } from './errors.ts';

/** How long the database may take, in milliseconds; 0 is without limit. */
export interface Patience {
  readonly statementMs: number;
  /** For a lock that another transaction holds. */
  readonly lockMs: number;
  /** Between two statements of a transaction: frees the locks of a process that froze or lost its network. */
  readonly idleMs: number;
  /** For an answer of any kind; longer than a statement, so that the database says first what is wrong. */
  readonly answerMs: number;
}

export const BUSY: Patience = { statementMs: 10_000, lockMs: 5000, idleMs: 15_000, answerMs: 15_000 };
/** The command line can wait for longer. */
export const PATIENT: Patience = { statementMs: 60_000, lockMs: 30_000, idleMs: 60_000, answerMs: 90_000 };
/** Migrations, and copying a whole store. */
export const UNLIMITED: Patience = { statementMs: 0, lockMs: 0, idleMs: 0, answerMs: 0 };

/** Enough for one process: no transaction waits for anything outside of the database. */
export const MOST_CONNECTIONS = 10;
const CONNECT_MS = 5000;

/**
 * Opens connections when they are needed. A lost connection is replaced by the next query that needs one, so the app recovers
 * by itself when the database comes back.
 */
export function createPool(url: string, patience: Patience, isApp = false): Pool {
  const pool = new Pool({
    connectionString: url,
    max: MOST_CONNECTIONS,
    // Keeps one connection open, so that an idle app still counts as running.
    min: isApp ? 1 : 0,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: patience.answerMs,
    keepAlive: true,
    fallback_application_name: 'vps-slack',
    types: { getTypeParser },
    onConnect: (client) => prepareSession(client, patience, isApp),
  });
  // A connection that is lost while idle is replaced; without a listener this would end the process.
  const ignore = () => undefined;
  pool.on('error', ignore);
  pool.on('connect', (client) => void client.on('error', ignore));
  return pool;
}

/** One lock per schema, since a database may have several. */
const PRESENCE = `hashtext('vps-slack'), hashtext(coalesce(current_schema(), ''))`;
/** True if no app is connected; none can connect while this session lasts. */
export const ALONE = `pg_try_advisory_lock(${PRESENCE})`;

const INT8 = 20;

// The types of `pg` give every parser another signature; ours is the one for text.
const getTypeParser: typeof types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === INT8 ? parseInt8 : types.getTypeParser(oid, format as 'text');

/** Times, amounts and counts are numbers in every engine. */
function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('a number in the database is too large to be read');
  return value;
}

/**
 * A commit has to be durable, on synchronous replicas too if the database has any, before a paid request is sent: where the
 * database is set to less, the session asks for it. Each session of an app holds a shared lock, which shows that the app is running.
 * @throws DatabaseUnusable for a replica that can't be written, and while a program keeps apps out
 */
async function prepareSession(
  client: ClientBase,
  { statementMs, lockMs, idleMs }: Patience,
  isApp: boolean,
): Promise<void> {
  const { rows } = await client.query<{ read_only: string; is_open: boolean }>(
    `select set_config('statement_timeout', $1, false), set_config('lock_timeout', $2, false),
      set_config('idle_in_transaction_session_timeout', $3, false),
      set_config('synchronous_commit', case current_setting('synchronous_commit')
        when 'remote_apply' then 'remote_apply' else 'on' end, false),
      current_setting('transaction_read_only') as read_only,
      case when $4::boolean then pg_try_advisory_lock_shared(${PRESENCE}) else true end as is_open`,
    [String(statementMs), String(lockMs), String(idleMs), isApp],
  );
  if (rows[0]?.read_only === 'on')
    throw new DatabaseUnusable('The database is read-only: DATABASE_URL names a replica. Name the primary.');
  if (!rows[0]?.is_open)
    throw new DatabaseUnusable('"npm run store -- restored" is using the database. Wait until it finishes.');
}
