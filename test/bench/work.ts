import type { Profiler } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { fillDelete } from '../support/acts.ts';
import { watchStatements } from '../support/statements.ts';
import { startTeam } from '../support/team.ts';
import type { Figure } from './figures.ts';
import { ROOT } from './processes.ts';

// How much of the app does an answer take: how many of its files, requests to the hosting API, and statements of SQL? The app,
// the local Slack and the hosting service share this process. A file of src counts if V8's precise coverage saw a call of one of its
// functions, so that neither the start nor types count. Every number is the least of three runs, since whatever the background did
// meanwhile is counted, too.
const RUNS = 3;
const FOLLOW_UP_MS = 2000;
/** Until a server is followed to its end, and the list of servers that was read last is no longer reused. */
const SETTLE_MS = 8000;
const IDLE_MS = 10_000;
const PRODUCT = pathToFileURL(`${ROOT}src/`).href;
/** The most statements without BEGIN and COMMIT until the answer; and a second, while nobody asks for anything. */
const MOST_STATEMENTS: Readonly<Record<string, number>> = { reboot: 20 };
const MOST_IDLE = 1;

type World = Awaited<ReturnType<typeof openWorld>>;

/** What is done until the answer can be read. What it returns comes after the measurement, and leaves the screen free. */
type Journey = (world: World, run: number) => Promise<(() => Promise<unknown>) | undefined>;

const JOURNEYS: Readonly<Record<string, Journey>> = {
  help: (world) => asks(world, '/vps help', 'lists every command'),
  list: (world) => asks(world, '/vps list', 'web-1'),
  show: (world) => asks(world, '/vps show web-1', 'Paid until'),
  status: (world) => asks(world, '/vps status', 'Unsaved root passwords'),
  reboot: (world, run) => asks(world, `/vps reboot web-${run}`, `is rebooting web-${run}`),
  create: async ({ manager, hosting, account }, run) => {
    await manager.types('/vps create');
    await manager.fills({ Plan: 'small', Location: 'ams', Image: 'debian-13', Label: `new-${run}` });
    await manager.presses('Review');
    await manager.sees('5.90');
    await manager.presses('Create and pay');
    await manager.sees('is being created (');
    const server = hosting.listServers(account).find(({ label }) => label === `new-${run}`);
    await manager.sees(hosting.passwordOf(Number(server?.id)) ?? 'no password');
    return async () => {
      await manager.closes();
      await manager.presses("I've saved it");
    };
  },
  delete: async ({ manager }, run) => {
    await fillDelete(manager, `old-${run}`);
    await manager.presses('Delete');
    await manager.sees('was deleted');
    return () => manager.closes();
  },
};

/** The acknowledgment may come after the answer. */
async function asks({ manager }: World, command: string, answer: string) {
  const acknowledged = manager.types(command);
  await manager.sees(answer);
  return () => acknowledged;
}

/** Starts the app, with a manager and servers to act on. */
async function openWorld() {
  const { seen: statements } = watchStatements();
  const hosting = { createDelayMs: 4000, rebootDelayMs: 3000 };
  const team = await startTeam({ mode: 'http', hasRateLimits: false, servers: RUNS, hosting });
  team.hosting.seedServers(team.account, RUNS, 'old');
  const profiler = new Session();
  profiler.connect();
  await profiler.post('Profiler.enable');
  await profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return Object.assign(team, { statements, profiler });
}

/** Counts what each journey takes, and what the app does while nobody asks for anything. */
export async function countWork(): Promise<readonly Figure[]> {
  await using world = await openWorld();
  await sleep(SETTLE_MS);
  const { statements } = await take(world, () => sleep(IDLE_MS));
  const idle = statements.length / (IDLE_MS / 1000);
  const figures: Figure[] = [];
  for (const [name, journey] of Object.entries(JOURNEYS)) figures.push(await measure(name, journey, world));
  const isMet = idle <= MOST_IDLE;
  return [
    ...figures,
    { what: 'idle: statements a second', measured: String(idle), aim: `≤ ${MOST_IDLE}`, isMet },
  ];
}

interface Taken {
  readonly files: number;
  readonly requests: number;
  readonly statements: readonly string[];
}

async function measure(name: string, journey: Journey, world: World): Promise<Figure> {
  const runs: { readonly until: Taken; readonly after: Taken }[] = [];
  for (let run = 1; run <= RUNS; run++) {
    world.manager.overlooksOldMessages();
    const { value: finish, ...until } = await take(world, () => journey(world, run));
    runs.push({ until, after: await take(world, () => sleep(FOLLOW_UP_MS)) });
    await finish?.();
    await sleep(SETTLE_MS);
  }
  const least = (part: 'until' | 'after', count: (taken: Taken) => number) =>
    Math.min(...runs.map((run) => count(run[part])));
  const countSql = (pattern: RegExp) => (taken: Taken) =>
    taken.statements.filter((sql) => pattern.test(sql)).length;
  const [count, begun] = [countSql(/^\s*(?!begin|commit|rollback)\w/i), countSql(/^begin/i)];
  const statements = least('until', count);
  const most = MOST_STATEMENTS[name];
  return {
    what: `/vps ${name}: statements (transactions) + ${FOLLOW_UP_MS / 1000} s after, API requests, files`,
    measured: `${statements} (${least('until', begun)}) + ${least('after', count)}, ${least('until', ({ requests }) => requests)}, ${least('until', ({ files }) => files)}`,
    ...(most !== undefined && { aim: `≤ ${most} statements`, isMet: statements <= most }),
  };
}

/** Reads what the work took. */
async function take<Value>(
  world: World,
  work: () => Promise<Value>,
): Promise<Taken & { readonly value: Value }> {
  const { statements, hosting, profiler } = world;
  await countFiles(profiler);
  const [statementsBefore, requestsBefore] = [statements.length, hosting.requests().length];
  const value = await work();
  const requests = hosting.requests().length - requestsBefore;
  return {
    value,
    requests,
    statements: statements.slice(statementsBefore),
    files: await countFiles(profiler),
  };
}

/** Counts the product's files of which a function was called since the last count. */
async function countFiles(profiler: Session): Promise<number> {
  const { result } = await profiler.post('Profiler.takePreciseCoverage');
  const isCalled = ({ functionName, ranges: [whole] }: Profiler.FunctionCoverage) =>
    whole && whole.count > 0 && !(functionName === '' && whole.startOffset === 0);
  const isProduct = (url: string) => url.startsWith(PRODUCT) && !url.startsWith(`${PRODUCT}sandbox/`);
  return result.filter(({ url, functions }) => isProduct(url) && functions.some(isCalled)).length;
}
