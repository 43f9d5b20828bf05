import type { Pool } from 'pg';
import { DatabaseUnusable } from './errors.ts';
import { MOST_CONNECTIONS } from './postgres-pool.ts';

/** One for a transaction, and one for what must not wait for it: a check that the database answers. */
const LEAST_CONNECTIONS = 2;

/** What the server, the database and the role allow; -1 stands for any number. `reserved_connections` is new in PostgreSQL 16. */
const ALLOWED = `select least(
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true)::int, 0),
    (select nullif(datconnlimit, -1) from pg_database where datname = current_database()),
    (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user)
  ) as allowed`;

/**
 * Lets the pools, of which one is used at a time, open no more than this process's share of the server's connections.
 * @throws DatabaseUnusable when there are too few for so many processes
 */
export async function shareConnections(
  pools: readonly [Pool, ...Pool[]],
  maxProcesses: number,
): Promise<void> {
  const { rows } = await pools[0].query<{ allowed: number }>(ALLOWED);
  const allowed = rows[0]?.allowed ?? 0;
  const share = Math.floor(allowed / maxProcesses);
  if (share < LEAST_CONNECTIONS)
    throw new DatabaseUnusable(
      `The database allows ${allowed} connections, too few for ${maxProcesses} processes (MAX_PROCESSES): each needs ` +
        `${LEAST_CONNECTIONS}. Raise max_connections of the server, or lower MAX_PROCESSES.`,
    );
  for (const { options } of pools) options.max = Math.min(MOST_CONNECTIONS, share);
}
