import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, test } from 'vitest';
import { TEAM } from '../../src/sandbox/slack/workspace.ts';
import { createServer, orderOf, passwordOf } from '../support/acts.ts';
import { createEmptyDatabase, postgresUrl } from '../support/postgres.ts';
import { runProgram } from '../support/programs.ts';
import { queryDatabase } from '../support/query-database.ts';
import { startTeam, type Team } from '../support/team.ts';

const run = promisify(execFile);

/** A database, backed up and restored as docs/operating.md says. */
interface BackedUp {
  /** Beside an app that runs. */
  backUp(): Promise<void>;
  /** After the app was stopped: an empty place first, then the backup. */
  restore(): Promise<void>;
}

/** `sqlite3 … ".backup …"`, and the file put in place without what belonged to the one before. */
function backedUpSqlite(databaseUrl: string, folder: string): BackedUp {
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
function backedUpPostgres(databaseUrl: string, folder: string): BackedUp {
  const dump = join(folder, 'vps.dump');
  const name = new URL(databaseUrl).pathname.slice(1);
  return {
    backUp: async () => void (await run('pg_dump', ['--format=custom', `--file=${dump}`, databaseUrl])),
    restore: async () => {
      await queryDatabase(postgresUrl, `drop database "${name}" with (force)`);
      await queryDatabase(
        postgresUrl,
        `create database "${name}" encoding 'UTF8' locale 'C' template template0`,
      );
      await run('pg_restore', ['--no-owner', '--exit-on-error', `--dbname=${databaseUrl}`, dump]);
      // A backup is older than its leases last when it is restored; in a test it is a second old.
      await queryDatabase(databaseUrl, 'update jobs set lease_until = 0');
    },
  };
}

/**
 * Whether the programs are there that back this engine up. Without them its tests are left out, and say so, but never where
 * `CI` is set: then they fail.
 */
function canBackUp(engine: 'SQLite' | 'PostgreSQL'): boolean {
  const programs = engine === 'SQLite' ? ['sqlite3'] : ['pg_dump', 'pg_restore'];
  const missing = programs.filter((program) => spawnSync(program, ['--version']).status !== 0);
  if (missing.length === 0) return engine === 'SQLite' || postgresUrl !== undefined;
  if (process.env.CI === 'true') return true;
  process.stderr.write(`No backup of ${engine} is tried: there is no ${missing.join(', ')}\n`);
  return false;
}

const ENGINES = [
  {
    name: 'SQLite',
    backUpWith: backedUpSqlite,
    makeUrl: async (folder: string) => `sqlite:${join(folder, 'vps.sqlite')}`,
  },
  { name: 'PostgreSQL', backUpWith: backedUpPostgres, makeUrl: () => createEmptyDatabase() },
] as const;

const SLOW_MS = 6000;

async function stateOf({ app }: Team, label: string) {
  const open = await app.ports.ledger.listOpen(TEAM.id);
  return open.find(({ purchase }) => purchase.kind === 'create' && purchase.order.label === label)?.state;
}

/** What `npm run store -- restored` says. */
async function declare(environment: Readonly<Record<string, string>>): Promise<string> {
  const { code, output, words } = await runProgram(['store', 'restored'], environment);
  if (code !== 0) throw new Error(words);
  return output + words;
}

// They wait for slow answers, and each has a team and a database of its own: side by side.
describe.each(ENGINES)('a backup of $name that is restored', { concurrent: true }, ({
  name,
  backUpWith,
  makeUrl,
}) => {
  test.skipIf(!canBackUp(name))(
    'pays nothing again once its operator has said so, and keeps what it has',
    async ({ expect }) => {
      const folder = await mkdtemp(join(tmpdir(), 'vps-slack-restore-'));
      const SPILL_DIR = join(folder, 'answers');
      const DATABASE_URL = await makeUrl(folder);
      await using team = await startTeam({
        settings: { DATABASE_URL, SPILL_DIR, HOSTING_TIMEOUT_MS: '20000' },
      });
      const { slack, hosting, account } = team;
      const backup = backUpWith(DATABASE_URL, folder);
      const [owner, manager] = [slack.as('olga'), slack.as('mara')];
      const charges = () => hosting.charges(account).length;

      // In the backup: one that was paid, one that is under way, one that waits behind it.
      await createServer(owner);
      hosting.faults.add({ on: 'create', kind: 'slow', delayMs: SLOW_MS });
      await owner.types(orderOf('web-2'));
      await owner.presses('Create and pay');
      await expect.poll(() => stateOf(team, 'web-2')).toBe('sent');
      await manager.types(orderOf('web-3'));
      await manager.presses('Create and pay');
      await expect.poll(() => stateOf(team, 'web-3')).toBe('prepared');
      await owner.closes();
      await owner.types(orderOf('web-4'));
      await owner.sees('Create and pay');
      await backup.backUp();
      expect([await stateOf(team, 'web-2'), await stateOf(team, 'web-3')]).toEqual(['sent', 'prepared']);

      // After it, all of them are paid, and one whose form was open when it was made.
      const pressed = await owner.presses('Create and pay');
      await expect.poll(charges).toBe(4);
      await expect.poll(() => team.app.ports.ledger.listOpen(TEAM.id)).toEqual([]);

      for (const each of [owner, manager]) await each.closes({ all: true }).catch(() => undefined);
      for (const each of [owner, manager]) each.overlooksOldMessages();
      await team.restart(async () => {
        await backup.restore();
        const { ENCRYPTION_KEYS = '' } = team.environment;
        expect(await declare({ DATABASE_URL, SPILL_DIR, ENCRYPTION_KEYS })).toMatch(
          /^Unconfirmed orders: 2\. .+\nDone\. Start the app/,
        );
      });

      // The one that was under way is looked for and found; the one that was not sent by then is a manager's to decide.
      await owner.sees('web-2 was created');
      await owner.sees('hasn’t reached us');
      await manager.sees(
        'We can’t tell whether web-3 was created: the app’s database was restored from a backup',
      );
      const again = await slack.redeliver(pressed);
      expect(JSON.stringify(again)).toContain('restored from a backup after you opened this form');
      expect([charges(), hosting.requests({ operation: 'create' }).length]).toEqual([4, 4]);
      await manager.types('/vps status');
      await manager.sees('web-3 (create, @mara): a manager has to resolve it');
      await owner.types('/vps password web-1');
      await owner.sees(passwordOf(team));

      // A manager decides, and the next order is paid once.
      await manager.presses(/Resolve web-3/);
      await manager.chooses('Which server was created?', 'web-3');
      await manager.presses('Save');
      await manager.sees('@mara marked your order for web-3 as done (server');
      owner.overlooksOldMessages();
      await createServer(owner, 'web-5');
      expect(charges()).toBe(5);

      const { audit } = team.app.ports;
      expect(await audit.verify(TEAM.id)).toMatchObject({ ok: true });
      const [entry] = await audit.list({ workspaceId: TEAM.id, actions: ['restore'], limit: 2 });
      expect(entry?.actorId).toBe('command line');
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  );
});
