import { execFile, spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { postgresUrl } from './postgres.ts';

const run = promisify(execFile);

/** A database, backed up and restored as docs/deploy.md says. */
interface BackedUp {
  /** Beside an app that runs. */
  backUp(): Promise<void>;
  /** After the app was stopped: an empty place first, then the backup. */
  restore(): Promise<void>;
}

/** `sqlite3 … ".backup …"`, and the file put in place without what belonged to the one before. */
export function backedUpSqlite(databaseUrl: string, folder: string): BackedUp {
  const path = databaseUrl.replace('sqlite:', '');
  const backup = join(folder, 'backup.sqlite');
  return {
    backUp: async () => void (await run('sqlite3', [path, `.backup '${backup}'`])),
    restore: async () => {
      for (const ending of ['', '-wal', '-shm']) await rm(`${path}${ending}`, { force: true });
      await run('cp', [backup, path]);
    },
  };
}

/** `pg_dump`, and `pg_restore` into an empty database of that name. */
export function backedUpPostgres(databaseUrl: string, folder: string): BackedUp {
  const dump = join(folder, 'vps.dump');
  const name = new URL(databaseUrl).pathname.slice(1);
  return {
    backUp: async () => void (await run('pg_dump', ['--format=custom', `--file=${dump}`, databaseUrl])),
    restore: async () => {
      const client = new Client(postgresUrl);
      await client.connect();
      await client.query(`drop database "${name}" with (force)`);
      await client.query(`create database "${name}" encoding 'UTF8' locale 'C' template template0`);
      await client.end();
      await run('pg_restore', ['--no-owner', '--exit-on-error', `--dbname=${databaseUrl}`, dump]);
      await endLeases(databaseUrl);
    },
  };
}

/** A backup is older than its leases last when it is restored; in a test it is a second old. */
async function endLeases(databaseUrl: string): Promise<void> {
  const client = new Client(databaseUrl);
  await client.connect();
  await client.query('update locks set until = 0; update jobs set lease_until = 0');
  await client.end();
}

/**
 * Whether the programs are there that back this engine up. Without them its tests are left out, and say so, but never where
 * `CI` is set: then they fail.
 */
export function canBackUp(engine: 'SQLite' | 'PostgreSQL'): boolean {
  const programs = engine === 'SQLite' ? ['sqlite3'] : ['pg_dump', 'pg_restore'];
  const missing = programs.filter((program) => spawnSync(program, ['--version']).status !== 0);
  if (missing.length === 0) return engine === 'SQLite' || postgresUrl !== undefined;
  if (process.env.CI === 'true') return true;
  process.stderr.write(`No backup of ${engine} is tried: there is no ${missing.join(', ')}\n`);
  return false;
}
