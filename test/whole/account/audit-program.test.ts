import { execFile } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import type { AuditEntry } from '../../../src/core/audit-entry.ts';
import { DAY_MS } from '../../../src/core/time.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { entry } from '../../db/fixtures.ts';
import { makeKey } from '../../support/environment.ts';
import { queryDatabase } from '../../support/query-database.ts';
import { startTeam, type Team } from '../../support/team.ts';

/** Runs a command in a shell as users do, and waits for its end. */
function run(team: Team | undefined, command: string) {
  return new Promise<{ code: number; output: string; words: string }>((resolve) => {
    const env = {
      PATH: process.env.PATH,
      AUDIT: `${process.execPath} dist/cli/main.js audit`,
      ...team?.environment,
    };
    execFile(
      'bash',
      ['--norc', '-o', 'pipefail', '-c', command],
      { env, maxBuffer: 1e8 },
      (error, output, words) => resolve({ code: Number(error?.code ?? 0), output, words }),
    );
  });
}

const makeEntry = (more: Partial<AuditEntry> = {}) =>
  entry({ at: Date.UTC(2026, 0, 15), workspaceId: TEAM.id, ...more });

/** One after the other: the audit is in the order in which its entries are written. */
async function addMany(team: Team, entries: readonly AuditEntry[]): Promise<void> {
  for (const entry of entries) await team.app.ports.audit.add(entry);
}

const readLines = (output: string) =>
  output
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

describe('the audit on the command line, beside a running app', () => {
  test('exports what users did and what was denied, in both formats, with and without `export`', async () => {
    await using team = await startTeam();
    await team.viewer.types('/vps reboot web-1');
    await team.viewer.sees('operator');
    const lines = await run(team, '$AUDIT export --format jsonl');
    expect(lines).toMatchObject({ code: 0, words: '' });
    const found = { action: 'reboot', outcome: 'denied', actorId: USERS.vera.id, surface: 'command' };
    expect(readLines(lines.output)).toContainEqual(expect.objectContaining(found));
    const csv = await run(team, '$AUDIT --format csv');
    expect(csv.output).toMatch(/^workspaceId,seq,id,at,actorId,/);
    expect(csv.output.split('\r\n')).toHaveLength(readLines(lines.output).length + 2);
    expect(csv.output).toContain('denied,role_needed');
  });

  test('exports who ordered what, at which price', async () => {
    await using team = await startTeam();
    await team.manager.types('/vps create plan=small location=fra image=debian-13 label=web-9');
    await team.manager.presses('Create and pay');
    await team.manager.sees('(only you can see this)');
    const { output } = await run(team, '$AUDIT --format csv');
    expect(output).toMatch(new RegExp(`,${USERS.mara.id},.*,create,.*,web-9,done,.*,5\\.90,`));
  });

  test('exports by whole days, user, server and workspace', async () => {
    await using team = await startTeam({ isConnected: false });
    const [first, last] = [Date.UTC(2026, 0, 10), Date.UTC(2026, 0, 20)];
    await addMany(team, [
      makeEntry({ actId: 'early', at: first - 1 }),
      makeEntry({ actId: 'first', at: first }),
      makeEntry({ actId: 'last', at: last + DAY_MS - 1, actorId: 'U2', label: '=1+1' }),
      makeEntry({ actId: 'late', at: last + DAY_MS }),
      makeEntry({ actId: 'elsewhere', workspaceId: 'T0THER', at: first }),
    ]);
    const actsOf = async (words: string) => {
      const { output } = await run(team, `$AUDIT --format jsonl ${words}`);
      return readLines(output).map(({ actId }) => actId);
    };
    expect(await actsOf(`--since 2026-01-10 --until 2026-01-20 --workspace ${TEAM.id}`)).toEqual([
      'first',
      'last',
    ]);
    expect(await actsOf('--actor U2')).toEqual(['last']);
    expect(await actsOf("--server '=1+1'")).toEqual(['last']);
    expect(await actsOf('--workspace T0THER')).toEqual(['elsewhere']);
    expect((await actsOf('')).sort()).toEqual(['early', 'elsewhere', 'first', 'last', 'late']);
    expect((await run(team, '$AUDIT --format csv')).output).toContain(",'=1+1,");
  });

  test('verifies, and names the entry that was changed in the database file', async () => {
    await using team = await startTeam({ isConnected: false, engine: 'sqlite' });
    await addMany(team, [makeEntry(), makeEntry(), makeEntry(), makeEntry({ workspaceId: 'T0THER' })]);
    const good = await run(team, '$AUDIT verify');
    expect(good).toMatchObject({ code: 0, words: '' });
    expect(good.output).toContain(`${TEAM.id}: 3 entries verified (1 to 3), none altered.`);
    await queryDatabase(team.environment.DATABASE_URL, `update audit set actor_id = 'U9' where seq = 2`);
    const bad = await run(team, '$AUDIT verify');
    expect(bad).toMatchObject({ code: 1, words: '' });
    expect(bad.output).toMatch(
      new RegExp(`^${TEAM.id}: Entry 2 \\(\\w{26}\\) is not as it was written`, 'm'),
    );
    expect(bad.output).toMatch(/^T0THER: 1 entry verified/m);
    expect(await run(team, '$AUDIT verify --workspace T0THER')).toMatchObject({ code: 0 });
    expect(await run(team, '$AUDIT verify --workspace TNOBODY')).toMatchObject({ code: 1 });
  });

  test('verifies against a head that was logged, and finds if the audit doesn’t continue from it', async () => {
    await using team = await startTeam({ isConnected: false });
    await addMany(team, [makeEntry(), makeEntry()]);
    const [head] = await team.app.ports.audit.listHeads();
    await addMany(team, [makeEntry()]);
    const verify = `$AUDIT verify --workspace ${TEAM.id} --head`;
    expect(await run(team, `${verify} ${head?.seq}:${head?.signature}`)).toMatchObject({ code: 0 });
    expect(await run(team, `${verify} 1:${head?.signature}`)).toMatchObject({ code: 1 });
  });
});

test('the audit explains an unusable keyring or database in a sentence', async () => {
  const keys = `ENCRYPTION_KEYS=k1:${makeKey('program')}`;
  const broken = await run(undefined, 'ENCRYPTION_KEYS=k1:c2hvcnQ= $AUDIT verify');
  expect(broken).toMatchObject({
    code: 1,
    words: 'Missing or wrong settings:\n  ENCRYPTION_KEYS: key 1 must be 32 bytes long, but is 5\n',
  });
  const elsewhere = await run(undefined, `${keys} DATABASE_URL=sqlite:package.json/x $AUDIT verify`);
  expect(elsewhere).toMatchObject({
    code: 1,
    words: expect.stringMatching(/^The app has no database at .+DATABASE_URL.+\.\n$/),
  });
});
