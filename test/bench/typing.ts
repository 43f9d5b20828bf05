import { Pool } from 'undici';
import { SIGNING_SECRET } from '../support/environment.ts';
import { signSuggestion } from './commands.ts';
import { type Figure, rounded } from './figures.ts';
import { drive, measureLoad, type Sample } from './load.ts';
import { type Contender, ROOT, start } from './processes.ts';
import { openSetting } from './setting.ts';

const SERVERS = 5000;
/** As many as are read to put the recently used servers first. */
const ACTS = 200;
const LETTERS = 400;
const AIM_MS = 50;

/** A name is typed letter by letter into the menu that searches; beside it a bare Bolt that always offers the same ten options. */
export async function measureTyping(): Promise<readonly Figure[]> {
  await using setting = await openSetting({ servers: SERVERS, acts: ACTS });
  await using app = await setting.startApp();
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

async function measureLetters(subject: Contender, users: number): Promise<Sample> {
  const pool = new Pool(subject.url, { connections: 8 });
  // The first letter reads the list from the hosting API, and the compiler of JavaScript does its work.
  await drive(pool, type(100), { concurrency: 1 });
  const taken = await measureLoad(subject, pool, type(LETTERS), { concurrency: users });
  await pool.close();
  return taken;
}

/** "w", "we", "web", "web-", "web-4" …: as Slack asks while a name is typed. */
function type(count: number) {
  const name = 'web-4321';
  return Array.from({ length: count }, (_, at) =>
    signSuggestion('manage', name.slice(0, at % (name.length + 1))),
  );
}
