import { spawnSync } from 'node:child_process';
import { Pool } from 'undici';
import { signSuggestion } from './commands.ts';
import { drive, quantile } from './load.ts';
import { settle } from './measure.ts';
import { type Contender, ROOT, start } from './processes.ts';
import { openSetting, SIGNING_SECRET } from './setting.ts';

// What somebody on call waits for, in a large account: the app is a process of its own, over real HTTP, without TLS.
const SERVERS = 5000;
/** As many as are read to put the recently used servers first. */
const ACTS = 200;
const LETTERS = 400;
/** What a user is promised (docs/servers.md). */
const PROMISED_MS = 100;

if (spawnSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' }).status !== 0)
  process.exit(1);
await using setting = await openSetting({ servers: SERVERS, acts: ACTS });
await using app = await start(`${ROOT}dist/main.js`, await setting.makeEnvironment());
await measureTyping(app);

/** A name is typed letter by letter into the menu that searches, by one user and by eight at once. */
async function measureTyping(app: Contender): Promise<void> {
  console.log(`Type-ahead over ${SERVERS} servers: a signed block_suggestion until its answer is read`);
  const pool = new Pool(app.url, { connections: 8 });
  // The first letter reads the list from the hosting API, and the compiler of JavaScript does its work.
  const [firstMs = Number.NaN] = (await drive(pool, type(1), 1, Number.POSITIVE_INFINITY)).latenciesMs;
  await drive(pool, type(100), 1, Number.POSITIVE_INFINITY);
  const rows: Record<string, object> = {};
  for (const users of [1, 8]) {
    const cpuBefore = await settle(app);
    const requestsBefore = setting.hosting.requests().length;
    const { latenciesMs } = await drive(pool, type(LETTERS), users, Number.POSITIVE_INFINITY);
    const cpuMs = ((await settle(app)) - cpuBefore) / 1000 / LETTERS;
    const requests = setting.hosting.requests().length - requestsBefore;
    rows[`${users} at a time`] = {
      'p50 ms': rounded(quantile(latenciesMs, 0.5)),
      'p99 ms': rounded(quantile(latenciesMs, 0.99)),
      'max ms': rounded(Math.max(...latenciesMs)),
      'CPU ms': rounded(cpuMs),
      'requests to the hosting API': requests,
    };
    if (users === 1 && quantile(latenciesMs, 0.99) > PROMISED_MS) process.exitCode = 1;
  }
  console.table(rows);
  console.log(`  the first letter, with the list read from the hosting API: ${rounded(firstMs)} ms`);
  await pool.close();
  if (process.exitCode === 1) console.error(`Promised are ${PROMISED_MS} ms: the app took longer.`);
}

/** "w", "we", "web", "web-", "web-4" …: as Slack asks while a name is typed. */
function type(count: number) {
  const name = 'web-4321';
  return Array.from({ length: count }, (_, at) =>
    signSuggestion('manage', name.slice(0, at % (name.length + 1)), SIGNING_SECRET),
  );
}

function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
