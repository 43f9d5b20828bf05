import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runBackground } from '../../../src/background.ts';
import type { AppContext } from '../../../src/context.ts';
import { openEngine } from '../../../src/db/database.ts';
import { openStore } from '../../../src/db/open-store.ts';
import { silentLog } from '../../../src/log.ts';
import { createIds, realSystem } from '../../../src/system.ts';
import { makePorts } from '../../app/support/make-ports.ts';
import { type HandClock, handClock, turn } from '../../slack/support/hand-clock.ts';
import { vault } from '../../store/fixtures.ts';
import { fillWorkspaces, nameWorkspace } from '../../support/many-workspaces.ts';

const ACTIVE = 10;
const HOURS = 3;

/** What the background did in some hours: its statements without their values, the rows that it read, and its log lines. */
interface Work {
  readonly statements: readonly string[];
  readonly rows: number;
  readonly lines: readonly string[];
}

/** Runs the background for hours over a store with so many workspaces, in the last of which some of them did something. */
async function workOver(installed: number): Promise<Work> {
  const folder = await mkdtemp(join(tmpdir(), 'idle-'));
  const databaseUrl = `sqlite:${join(folder, 'vps.sqlite')}`;
  await fillWorkspaces({ databaseUrl, vault, count: installed, keyOf: (nth) => `key-${nth}` });
  const clock = handClock();
  // The installs were long ago.
  const startedAt = realSystem.now() + 24 * 3_600_000;
  const now = () => startedAt + clock.system.elapsed();
  const system = { ...clock.system, now, newId: createIds(now, realSystem.random) };
  const watch = { statements: [] as string[], rows: 0 };
  const lines: string[] = [];
  const info = (words: string, { workspaceId }: Record<string, unknown> = {}) =>
    void lines.push(`${words} ${workspaceId}`);
  const open = watchedEngine(watch);
  const store = await openStore({ databaseUrl, vault, system, openEngine: open });
  try {
    for (let nth = 0; nth < ACTIVE; nth++) await act(nameWorkspace(nth).workspaceId, store, system.now());
    Object.assign(watch, { statements: [], rows: 0 });
    const ports = makePorts(store, { system, log: { ...silentLog, info } });
    await runHours(ports, clock);
    return { ...watch, lines };
  } finally {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
}

const act = (workspaceId: string, { audit }: Pick<AppContext, 'audit'>, at: number) =>
  audit.add({
    at,
    workspaceId,
    actorId: 'U1',
    surface: 'command',
    action: 'reboot',
    actId: 'act',
    outcome: 'done',
  });

const roles = {
  hasRole: async () => true,
  execute: async () => {
    throw new Error('no workflow runs here');
  },
};

/** The same number of rounds for every store: each begins once everything sleeps again. */
async function runHours(ports: AppContext, clock: HandClock): Promise<void> {
  const stop = new AbortController();
  const ended = runBackground(ports, roles, stop.signal);
  // The loop of the jobs: the answers that a crash left are read from files before.
  await expect.poll(clock.sleeping).toBe(1);
  // Twice a minute, so that every job is due again and again.
  for (let passed = 0; passed < HOURS * 3_600_000; passed += 30_000) {
    await clock.pass(30_000);
    for (let turns = 0; turns < 5; turns++) await turn();
  }
  stop.abort();
  await ended;
}

function watchedEngine(watch: { statements: string[]; rows: number }): typeof openEngine {
  return async (url, options) => {
    const engine = await openEngine(url, options);
    const { dialect } = engine;
    const createDriver = () => {
      const driver = dialect.createDriver();
      const acquire = driver.acquireConnection.bind(driver);
      driver.acquireConnection = async () => {
        const connection = await acquire();
        const execute = connection.executeQuery.bind(connection);
        return {
          ...connection,
          streamQuery: connection.streamQuery.bind(connection),
          executeQuery: async <Row>(query: Parameters<typeof execute>[0]) => {
            const result = await execute<Row>(query);
            watch.statements.push(query.sql);
            watch.rows += result.rows.length;
            return result;
          },
        };
      };
      return driver;
    };
    const watched = {
      createAdapter: () => dialect.createAdapter(),
      createIntrospector: (db: Parameters<typeof dialect.createIntrospector>[0]) =>
        dialect.createIntrospector(db),
      createQueryCompiler: () => dialect.createQueryCompiler(),
      createDriver,
    };
    return { ...engine, dialect: watched };
  };
}

describe('unused workspaces', () => {
  test('cost no statement, no row and no log line in hours of background work', async () => {
    const [few, many] = [await workOver(ACTIVE), await workOver(300)];
    expect(few.statements.length).toBeGreaterThan(500);
    expect(many.statements.length).toBe(few.statements.length);
    expect(many.rows).toBe(few.rows);
    // Only what was done is told, once.
    expect(many.lines).toEqual(few.lines);
    expect(many.lines).toHaveLength(ACTIVE);
  });
});
