import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { type Installed, nameWorkspace } from '../support/many-workspaces.ts';
import { quantile } from './load.ts';
import { type Contender, ROOT, start } from './processes.ts';
import { findResidentMb, isReady } from './start-up.ts';
import { openManySetting, openPool, type } from './workspaces-setting.ts';

// The questions: what do thousands of installed but unused workspaces cost, at the start, in memory, in the background
// and in the time that a command takes; and does a noisy workspace slow another one? The app is a process of its own, over
// real HTTP; the hosting service and Slack's answers share the other processor with this program.
const { values: asked } = parseArgs({
  options: {
    installed: { type: 'string', default: '10000' },
    active: { type: 'string', default: '200' },
  },
});
const [INSTALLED, ACTIVE] = [Number(asked.installed), Number(asked.active)];
const COMMANDS = 1000;
const AT_ONCE = 8;
const IDLE_MS = 20_000;
/** As many as a server takes at one moment. */
const CONNECTIONS = 400;
const QUIET_EVERY_MS = 50;
const ALONE_MS = 5_000;
const crowdResult = z.object({ latenciesMs: z.array(z.number()), tookMs: z.number() });
type Crowd = z.infer<typeof crowdResult>;

if (spawnSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' }).status !== 0)
  process.exit(1);
await using setting = await openManySetting();
const { replies } = setting;

console.log(`/vps list of 20 servers, ${AT_ONCE} at a time, and ${IDLE_MS / 1000} s without any requests`);
const one = await measure(1, 1);
const many = await measure(INSTALLED, ACTIVE);
console.table({ '1 workspace': one, [`${INSTALLED} workspaces, ${ACTIVE} active`]: many });
const perIdleKb = ((many['MB at rest'] - one['MB at rest']) * 1024) / Math.max(1, INSTALLED - 1);
const grownMb = (of: typeof one) => of['MB after use'] - of['MB at rest'];
console.log(`Memory: ${perIdleKb.toFixed(2)} KB for each installed workspace, at rest. ${COMMANDS + ACTIVE + 200} commands
leave ${grownMb(many)} MB more behind in ${ACTIVE} workspaces, and ${COMMANDS + 201} leave ${grownMb(one)} MB in one.`);
await measureNoise();

async function measure(count: number, active: number) {
  const environment = await setting.fill(count, active);
  const startedAt = performance.now();
  await using app = await start(`${ROOT}dist/main.js`, environment);
  while (!(await isReady(`${app.url}/readyz`))) await sleep(5);
  const readyMs = performance.now() - startedAt;
  await sleep(3_000);
  const restMb = await findResidentMb(app.pid);
  const idle = await measureIdle(app);
  const workspaces = Array.from({ length: active }, (_, nth) => nameWorkspace(nth));
  await serve(app, workspaces, active + 200);
  const served = await serve(app, workspaces, COMMANDS);
  return {
    'ready ms': Math.round(readyMs),
    'MB at rest': Math.round(restMb ?? Number.NaN),
    'MB after use': Math.round((await findResidentMb(app.pid)) ?? Number.NaN),
    'idle CPU ms per s': idle,
    'p50 ms': rounded(quantile(served, 0.5)),
    'p99 ms': rounded(quantile(served, 0.99)),
  };
}

async function measureIdle(app: Contender): Promise<number> {
  const before = await app.cpuUs();
  await sleep(IDLE_MS);
  return rounded((await app.cpuUs()) - before, 1000 * (IDLE_MS / 1000));
}

/** How long each of so many commands took until its answer was there; in turn of all workspaces. */
async function serve(
  app: Contender,
  workspaces: readonly Installed[],
  count: number,
): Promise<readonly number[]> {
  await using pool = openPool(app.url, AT_ONCE);
  const tookMs: number[] = [];
  const left = Array.from({ length: count }, (_, nth) => workspaces[nth % workspaces.length]).values();
  const send = async () => {
    for (const workspace of left) if (workspace) tookMs.push(await type(pool.pool, workspace, replies));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, send));
  return tookMs;
}

/** The quiet workspace types now and then: alone, and while another one types all at once. */
async function measureNoise(): Promise<void> {
  await using app = await start(`${ROOT}dist/main.js`, await setting.fill(2, 2));
  const [quiet, noisy] = [nameWorkspace(0), nameWorkspace(1)];
  await serve(app, [quiet, noisy], 400);
  const until = performance.now() + ALONE_MS;
  const alone = await typeNowAndThen(app, quiet, () => performance.now() > until);
  let isDone = false;
  const noise = typeAtOnce(app, noisy).finally(() => {
    isDone = true;
  });
  const beside = await typeNowAndThen(app, quiet, () => isDone);
  const { latenciesMs, tookMs } = await noise;
  console.log(
    `\nA quiet workspace, beside one that types ${COMMANDS} commands at once over ${CONNECTIONS} connections (done after ${tookMs.toFixed(0)} ms)`,
  );
  console.table({
    'quiet, alone': describe(alone),
    'quiet, beside it': describe(beside),
    noisy: describe(latenciesMs),
  });
}

/** All of it at once, from a process of its own. */
async function typeAtOnce({ url }: Contender, who: Installed): Promise<Crowd> {
  const asked = { url, who, commands: COMMANDS, connections: CONNECTIONS };
  const crowd = fork(new URL('./crowd.ts', import.meta.url), [JSON.stringify(asked)]);
  const [result] = await once(crowd, 'message');
  return crowdResult.parse(result);
}

async function typeNowAndThen(
  app: Contender,
  who: Installed,
  isOver: () => boolean,
): Promise<readonly number[]> {
  await using pool = openPool(app.url, 16);
  const running: Promise<number>[] = [];
  do {
    running.push(type(pool.pool, who, replies));
    await sleep(QUIET_EVERY_MS);
  } while (!isOver());
  return await Promise.all(running);
}

function describe(tookMs: readonly number[]) {
  const [p50, p99] = [quantile(tookMs, 0.5), quantile(tookMs, 0.99)];
  return { commands: tookMs.length, 'p50 ms': rounded(p50), 'p99 ms': rounded(p99) };
}

function rounded(value: number, by = 1): number {
  return Number((value / by).toPrecision(3));
}
