import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, test } from 'vitest';
import type { Log } from '../../src/log.ts';
import { TEAM } from '../../src/sandbox/slack/workspace.ts';
import { backedUpPostgres, backedUpSqlite, canBackUp } from '../support/backup.ts';
import { createEmptyDatabase } from '../support/postgres.ts';
import { startTeam, type Team } from '../support/team.ts';

const ENGINES = [
  {
    name: 'SQLite',
    backUpWith: backedUpSqlite,
    makeUrl: async (folder: string) => `sqlite:${join(folder, 'vps.sqlite')}`,
  },
  { name: 'PostgreSQL', backUpWith: backedUpPostgres, makeUrl: () => createEmptyDatabase() },
] as const;

/** How it becomes known that the database is a backup; a new machine has no notes of what was sent. */
const WAYS = [
  { way: 'its operator says so', saysSo: true, isNewMachine: true },
  { way: 'this machine has sent an order that it doesn’t know', saysSo: false, isNewMachine: false },
] as const;

const order = (label: string) => `/vps create plan=small location=ams image=debian-13 label=${label}`;
const CREATED = /(was|is being) created \(/;
const SLOW_MS = 6000;

async function stateOf({ app }: Team, label: string) {
  const open = await app.ports.ledger.listOpen(TEAM.id);
  return open.find(({ purchase }) => purchase.kind === 'create' && purchase.order.label === label)?.state;
}

function idOf({ hosting, account }: Team, label: string): number {
  return hosting.listServers(account).find((server) => server.label === label)?.id ?? 0;
}

/** What `npm run store -- restored` runs, with the settings of the app. */
const declare = promisify(
  (environment: Readonly<Record<string, string>>, done: (error: Error | null, words: string) => void) =>
    execFile(
      process.execPath,
      ['dist/cli/main.js', 'store', 'restored'],
      { env: { PATH: process.env.PATH, ...environment } },
      (error, output, words) => done(error, output + words),
    ),
);

// They wait for slow answers, and each has a team and a database of its own: side by side.
describe.each(ENGINES)('a backup of $name that is restored', { concurrent: true }, ({
  name,
  backUpWith,
  makeUrl,
}) => {
  test.skipIf(!canBackUp(name)).for(WAYS)(
    'pays nothing again where $way, and keeps what it has',
    async ({ saysSo, isNewMachine }, { expect }) => {
      const folder = await mkdtemp(join(tmpdir(), 'vps-slack-restore-'));
      const SPILL_DIR = join(folder, 'answers');
      const DATABASE_URL = await makeUrl(folder);
      const warnings: string[] = [];
      const log: Log = { debug() {}, info() {}, warn: (words) => void warnings.push(words), error() {} };
      await using team = await startTeam({
        log,
        settings: { DATABASE_URL, SPILL_DIR, HOSTING_TIMEOUT_MS: '20000' },
      });
      const { slack, hosting, account } = team;
      const backup = backUpWith(DATABASE_URL, folder);
      const [owner, manager] = [slack.as('olga').in('#ops'), slack.as('mara').in('#ops')];
      const charges = () => hosting.charges(account).length;

      // In the backup: one that was paid, one that is under way, one that waits behind it.
      await owner.types(order('web-1'));
      await owner.presses('Create and pay');
      await owner.sees(CREATED);
      hosting.faults.add({ on: 'create', kind: 'slow', delayMs: SLOW_MS });
      await owner.closes();
      await owner.types(order('web-2'));
      await owner.presses('Create and pay');
      await expect.poll(() => stateOf(team, 'web-2')).toBe('sent');
      await manager.types(order('web-3'));
      await manager.presses('Create and pay');
      await expect.poll(() => stateOf(team, 'web-3')).toBe('prepared');
      await owner.closes();
      await owner.types(order('web-4'));
      await owner.sees('Create and pay');
      await backup.backUp();
      expect([await stateOf(team, 'web-2'), await stateOf(team, 'web-3')]).toEqual(['sent', 'prepared']);

      // After it, all of them are paid, and one whose form was open when it was made.
      const pressed = await owner.presses('Create and pay');
      await expect.poll(charges).toBe(4);
      await expect.poll(() => team.app.ports.ledger.listOpen(TEAM.id)).toEqual([]);
      if (!pressed) throw new Error('nothing was delivered');

      for (const each of [owner, manager]) await each.closes({ all: true }).catch(() => undefined);
      for (const each of [owner, manager]) each.overlooksOldMessages();
      await team.restart(async () => {
        await backup.restore();
        if (isNewMachine) await rm(SPILL_DIR, { recursive: true });
        const { ENCRYPTION_KEYS = '' } = team.environment;
        if (saysSo)
          expect(await declare({ DATABASE_URL, SPILL_DIR, ENCRYPTION_KEYS })).toMatch(
            /^Unconfirmed orders: 2\. .+\nDone\. Start the app/,
          );
      });

      // The one that was under way is looked for and found; the one that was not sent by then is a manager's to decide.
      await owner.sees('web-2 was created');
      await owner.sees('didn’t reach us');
      await manager.sees(
        'We can’t tell whether web-3 was created: the app’s database was restored from a backup',
        30_000,
      );
      const again = await slack.redeliver(pressed);
      expect(JSON.stringify(again)).toContain('restored from a backup after you opened this form');
      expect([charges(), hosting.requests({ operation: 'create' }).length]).toEqual([4, 4]);
      await manager.types('/vps status');
      await manager.sees('web-3 (create, @mara): a manager has to resolve it');
      await owner.types('/vps password web-1');
      await owner.sees(hosting.passwordOf(idOf(team, 'web-1')) ?? 'none');

      // A manager decides, and the next order is paid once.
      await manager.presses(/Resolve web-3/);
      await manager.chooses('Which server was created?', 'web-3');
      await manager.presses('Save');
      await manager.sees('web-3 was created');
      owner.overlooksOldMessages();
      await owner.types(order('web-5'));
      await owner.presses('Create and pay');
      await owner.sees(CREATED);
      expect(charges()).toBe(5);

      const { audit } = team.app.ports;
      expect(await audit.verify(TEAM.id)).toMatchObject({ ok: true });
      const [entry] = await audit.list({ workspaceId: TEAM.id, actions: ['restore'], limit: 2 });
      expect(entry?.actorId).toBe(saysSo ? 'command line' : 'app');
      const ready = await (await fetch(`${team.appUrl}/readyz`)).text();
      const told = [warnings.join(), ready].map((words) => words.includes('restored from a backup'));
      expect(told).toEqual(saysSo ? [false, false] : [true, true]);
      await rm(folder, { recursive: true, force: true });
    },
  );
});
