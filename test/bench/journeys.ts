import { mkdtemp, rm } from 'node:fs/promises';
import type { Profiler } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { compose } from '../../src/app.ts';
import { parseConfig } from '../../src/config.ts';
import { Secret } from '../../src/core/secret.ts';
import { createLog } from '../../src/log.ts';
import { startHosting } from '../../src/sandbox/hosting/start.ts';
import { TEAM, USERS } from '../../src/sandbox/slack/workspace.ts';
import { environmentOf, installedApp } from '../support/environment.ts';
import { startSlack } from '../support/slack/local-slack.ts';
import { watchStatements } from '../support/statements.ts';
import { ROOT } from './processes.ts';

// How much of the app does an answer take: how many of its files, requests to the hosting API, and statements of SQL? The app,
// the local Slack and the hosting service share this process. `npm run bench:journeys -- reboot` lists that one's statements, too.
const RUNS = 3;
const FOLLOW_UP_MS = 2000;
/** Until a server is followed to its end, and the list of servers that was read last is no longer reused. */
const SETTLE_MS = 8000;
const IDLE_MS = 10_000;
const PRODUCT = pathToFileURL(`${ROOT}src/`).href;

/** What is done until the answer can be read. What it returns comes after the measurement, and leaves the screen free. */
type Journey = (run: number) => Promise<(() => Promise<unknown>) | undefined>;

const JOURNEYS: Readonly<Record<string, Journey>> = {
  help: () => asks('/vps help', 'lists every command'),
  list: () => asks('/vps list', 'web-1'),
  reboot: (run) => asks(`/vps reboot web-${run}`, `is rebooting web-${run}`),
  create: async (run) => {
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
  delete: async (run) => {
    await manager.types(`/vps delete old-${run}`);
    await manager.fills({ [`To confirm, type old-${run}`]: `old-${run}` });
    await manager.presses('Delete');
    await manager.sees('was deleted');
    return () => manager.closes();
  },
};

/** The acknowledgment may come after the answer. */
async function asks(command: string, answer: string) {
  const acknowledged = manager.types(command);
  await manager.sees(answer);
  return () => acknowledged;
}

const folder = await mkdtemp(join(tmpdir(), 'vps-slack-bench-'));
const hosting = await startHosting();
const account = hosting.accounts.create({ name: 'Team', balanceMinor: 100_000 });
for (const prefix of ['web', 'old']) hosting.seedServers(account, RUNS, prefix);
const slack = await startSlack({ hasRateLimits: false, app: installedApp('http') });
const manager = slack.as('mara').in('#ops');
const statements = watchStatements();
const app = await compose(parseConfig(environmentOf(slack, hosting, folder)), createLog('silent'));
slack.app.commandsUrl = `http://127.0.0.1:${app.port}/slack/events`;
const [workspaceId, grantedBy, grantedAt] = [TEAM.id, USERS.olga.id, Date.now()];
await app.ports.apiKeys.put(workspaceId, new Secret(hosting.createKey(account)), grantedBy, grantedAt);
const grantee = { subjectKind: 'user', subjectId: manager.id, role: 'manager', pattern: '' } as const;
await app.ports.grants.put({ workspaceId, ...grantee, grantedBy, grantedAt });
const profiler = new Session();
profiler.connect();
await profiler.post('Profiler.enable');
await profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

await sleep(SETTLE_MS);
const idle = await take(() => sleep(IDLE_MS));
const rows: Record<string, object> = {};
for (const [name, journey] of Object.entries(JOURNEYS)) rows[`/vps ${name}`] = await measure(name, journey);
rows[`idle, ${IDLE_MS / 1000} s`] = describe([{ until: idle }]);
console.table(rows);
console.log(`Idle: ${idle.statements.length / (IDLE_MS / 1000)} statements a second. ${availableParallelism()} CPUs, Node.js ${process.version}.
A file of src (without src/sandbox) counts if V8's precise coverage saw a call of one of its functions, other than the module's
own top level, between the command and the moment at which its answer could be read; so neither the start nor types count. In
"a + b", a is what came until then and b what came in the ${FOLLOW_UP_MS / 1000} s after it; a transaction is a BEGIN. Each journey ran ${RUNS} times in one
process on SQLite, and every number is the least of the three, since whatever the background did meanwhile is counted, too.`);
await app.close();
await slack.stop();
await hosting.close();
await rm(folder, { recursive: true, force: true });

interface Taken {
  readonly files: number;
  readonly requests: number;
  readonly statements: readonly string[];
}

async function measure(name: string, journey: Journey): Promise<object> {
  const runs: { readonly until: Taken; readonly after: Taken }[] = [];
  for (let run = 1; run <= RUNS; run++) {
    manager.overlooksOldMessages();
    const { value: finish, ...until } = await take(() => journey(run));
    runs.push({ until, after: await take(() => sleep(FOLLOW_UP_MS)) });
    await finish?.();
    await sleep(SETTLE_MS);
  }
  const [shortest] = runs.sort((one, other) => one.until.statements.length - other.until.statements.length);
  if (shortest && process.argv.includes(name))
    console.log([name, ...shortest.until.statements, 'then', ...shortest.after.statements].join('\n'));
  return describe(runs);
}

/** Reads what the work took. */
async function take<Value>(work: () => Promise<Value>): Promise<Taken & { readonly value: Value }> {
  await countFiles();
  const [statementsBefore, requestsBefore] = [statements.length, hosting.requests().length];
  const value = await work();
  const requests = hosting.requests().length - requestsBefore;
  return { value, requests, statements: statements.slice(statementsBefore), files: await countFiles() };
}

/** Counts the product's files of which a function was called since the last count. */
async function countFiles(): Promise<number> {
  const { result } = await profiler.post('Profiler.takePreciseCoverage');
  const isCalled = ({ functionName, ranges: [whole] }: Profiler.FunctionCoverage) =>
    whole && whole.count > 0 && !(functionName === '' && whole.startOffset === 0);
  const isProduct = (url: string) => url.startsWith(PRODUCT) && !url.startsWith(`${PRODUCT}sandbox/`);
  return result.filter(({ url, functions }) => isProduct(url) && functions.some(isCalled)).length;
}

function describe(runs: readonly { readonly until: Taken; readonly after?: Taken }[]): object {
  const least = (count: (taken: Taken) => number): string =>
    [runs.map(({ until }) => until), runs.flatMap(({ after }) => after ?? [])]
      .filter((parts) => parts.length > 0)
      .map((parts) => Math.min(...parts.map(count)))
      .join(' + ');
  const countSql = (pattern: RegExp) =>
    least(({ statements: all }) => all.filter((sql) => pattern.test(sql)).length);
  return {
    files: Math.min(...runs.map(({ until }) => until.files)),
    'API requests': least(({ requests }) => requests),
    'SQL statements': countSql(/^/),
    'without BEGIN, COMMIT, ROLLBACK': countSql(/^(?!begin|commit|rollback)/i),
    transactions: countSql(/^begin/i),
  };
}
