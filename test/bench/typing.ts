import { Pool } from 'undici';
import { SIGNING_SECRET } from '../support/environment.ts';
import { signSuggestion } from './commands.ts';
import { type Figure, quantile, rounded } from './figures.ts';
import { drive } from './load.ts';
import { type Contender, ROOT, settle, start } from './processes.ts';
import { openSetting } from './setting.ts';

const SERVERS = 5000;
/** As many as are read to put the recently used servers first. */
const ACTS = 200;
const LETTERS = 400;
const AIM_MS = 50;

/** A name is typed letter by letter into the menu that searches; beside it a bare Bolt that always offers the same ten options. */
export async function measureTyping(): Promise<readonly Figure[]> {
  await using setting = await openSetting({ servers: SERVERS, acts: ACTS });
  await using app = await start(`${ROOT}dist/main.js`, await setting.makeEnvironment());
  await using bare = await start(`${ROOT}test/bench/bare-bolt.mjs`, { SLACK_SIGNING_SECRET: SIGNING_SECRET });
  const figures: Figure[] = [];
  for (const users of [1, 8]) {
    const ours = await measureLetters(app, users);
    const theirs = await measureLetters(bare, users);
    figures.push({
      what: `a letter typed into the search over ${SERVERS} servers, ${users} at a time`,
      measured: `p50 ${rounded(ours.p50Ms)} ms, p99 ${rounded(ours.p99Ms)} ms, ${rounded(ours.cpuUs)} µs CPU`,
      'x p50': rounded(ours.p50Ms / theirs.p50Ms),
      'x CPU': rounded(ours.cpuUs / theirs.cpuUs),
      ...(users === 1 && { aim: `p99 ≤ ${AIM_MS} ms`, isMet: ours.p99Ms <= AIM_MS }),
    });
  }
  return figures;
}

async function measureLetters(subject: Contender, users: number) {
  const pool = new Pool(subject.url, { connections: 8 });
  // The first letter reads the list from the hosting API, and the compiler of JavaScript does its work.
  await drive(pool, type(100), 1, Number.POSITIVE_INFINITY);
  const cpuBefore = await settle(subject);
  const latenciesMs = await drive(pool, type(LETTERS), users, Number.POSITIVE_INFINITY);
  const cpuUs = ((await settle(subject)) - cpuBefore) / LETTERS;
  await pool.close();
  return { p50Ms: quantile(latenciesMs, 0.5), p99Ms: quantile(latenciesMs, 0.99), cpuUs };
}

/** "w", "we", "web", "web-", "web-4" …: as Slack asks while a name is typed. */
function type(count: number) {
  const name = 'web-4321';
  return Array.from({ length: count }, (_, at) =>
    signSuggestion('manage', name.slice(0, at % (name.length + 1))),
  );
}
