import { Pool } from 'undici';
import { signSuggestion } from './commands.ts';
import { drive, quantile } from './load.ts';
import { settle } from './measure.ts';
import { type Contender, ROOT, start } from './processes.ts';
import { rounded } from './promise.ts';
import { openSetting, SIGNING_SECRET } from './setting.ts';

const SERVERS = 5000;
/** As many as are read to put the recently used servers first. */
const ACTS = 200;
const LETTERS = 400;
/** What a user is promised (docs/servers.md). */
const PROMISED_MS = 100;

/**
 * A name is typed letter by letter into the menu that searches, by one user and by eight at once; beside it a bare Bolt that
 * always offers the same ten options. Returns what is beyond the promise.
 */
export async function measureTyping(): Promise<readonly string[]> {
  await using setting = await openSetting({ servers: SERVERS, acts: ACTS });
  await using app = await start(`${ROOT}dist/main.js`, await setting.makeEnvironment());
  await using bare = await start(`${ROOT}test/bench/bare-bolt.mjs`, { SLACK_SIGNING_SECRET: SIGNING_SECRET });
  console.log(`\nType-ahead over ${SERVERS} servers: a signed block_suggestion until its answer is read (promised: p99 of
one user ≤ ${PROMISED_MS} ms)`);
  const requests = () => setting.hosting.requests().length;
  const rows = {
    ...(await measureLetters('the app', app, requests)),
    ...(await measureLetters('bare Bolt, ten fixed options', bare, requests)),
  };
  console.table(rows);
  const p99 = rows['the app, 1 at a time']?.['p99 ms'] ?? Number.POSITIVE_INFINITY;
  return p99 <= PROMISED_MS ? [] : [`a letter takes ${p99} ms, promised are ${PROMISED_MS} ms`];
}

type Row = Readonly<Record<string, number>>;

async function measureLetters(name: string, subject: Contender, requests: () => number) {
  const pool = new Pool(subject.url, { connections: 8 });
  // The first letter reads the list from the hosting API, and the compiler of JavaScript does its work.
  const [firstMs = Number.NaN] = (await drive(pool, type(1), 1, Number.POSITIVE_INFINITY)).latenciesMs;
  await drive(pool, type(100), 1, Number.POSITIVE_INFINITY);
  const rows: Record<string, Row> = {};
  for (const users of [1, 8]) {
    const cpuBefore = await settle(subject);
    const requestsBefore = requests();
    const { latenciesMs } = await drive(pool, type(LETTERS), users, Number.POSITIVE_INFINITY);
    rows[`${name}, ${users} at a time`] = {
      'p50 ms': rounded(quantile(latenciesMs, 0.5)),
      'p99 ms': rounded(quantile(latenciesMs, 0.99)),
      'max ms': rounded(Math.max(...latenciesMs)),
      'CPU ms': rounded(((await settle(subject)) - cpuBefore) / 1000 / LETTERS),
      'requests to the hosting API': requests() - requestsBefore,
      'first letter ms': rounded(firstMs),
    };
  }
  await pool.close();
  return rows;
}

/** "w", "we", "web", "web-", "web-4" …: as Slack asks while a name is typed. */
function type(count: number) {
  const name = 'web-4321';
  return Array.from({ length: count }, (_, at) =>
    signSuggestion('manage', name.slice(0, at % (name.length + 1)), SIGNING_SECRET),
  );
}
