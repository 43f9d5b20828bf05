import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { SIGNING_SECRET } from '../support/environment.ts';
import { type SignedCommand, signCommands } from './commands.ts';
import { atMost, type Figure, median, rounded } from './figures.ts';
import { acknowledge, drive, measureLoad, type Sample } from './load.ts';
import { type Contender, ROOT, start } from './processes.ts';
import { openSetting } from './setting.ts';

// How long until the user sees the answer to a command, and what does it cost, beside a bare Bolt that acknowledges and posts the
// same bytes to the `response_url`? Both are processes of their own, over real HTTP, without TLS; rounds alternate. An answer is seen
// when it comes in the ack, or else when it arrives at the `response_url`.
interface Command {
  readonly words: string;
  readonly typed: string;
  readonly servers: number;
  /** The most that it may take, as a ratio to that Bolt. */
  readonly aim: number;
}

const COMMANDS: readonly Command[] = [
  { words: 'help', typed: 'help', servers: 20, aim: 0.8 },
  { words: 'show', typed: 'show web-7', servers: 20, aim: 0.8 },
  { words: 'status', typed: 'status', servers: 20, aim: 0.8 },
  { words: 'list of 20', typed: 'list', servers: 20, aim: 0.8 },
  { words: 'list of 50', typed: 'list', servers: 50, aim: 1.2 },
];
const CONCURRENCIES = [1, 16, 64];
const ROUNDS = 7;
const BURST = 400;
const BURST_MS = 300;
/** A few less than the app keeps open (src/web/server.ts). */
const MOST_CONNECTIONS = 380;
const LARGE = 5000;
const LARGE_MS = 100;
const LIST_RUNS = 5;
/** Longer than src/hosting/share.ts keeps a list, so that a command finds none. */
const LIST_IS_KEPT_MS = 2500;

type Replies = Awaited<ReturnType<typeof startReplies>>;

/** Compares every command with a bare Bolt. `postgres`: the server of PostgreSQL to use in the place of SQLite. */
export async function measureAnswers(postgres?: string): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  await using replies = await startReplies();
  for (const servers of new Set(COMMANDS.map((each) => each.servers))) {
    await using setting = await openSetting({ servers, postgres });
    await using app = await setting.startApp();
    for (const command of COMMANDS.filter((each) => each.servers === servers))
      figures.push(...(await compare(command, app, replies)));
  }
  return figures.map((figure) => ({
    ...figure,
    what: `${figure.what}, ${postgres ? 'PostgreSQL' : 'SQLite'}`,
  }));
}

/** Slack's side of the `response_url`s. */
async function startReplies() {
  const waiting = new Map<number, (body: string) => void>();
  const server = createServer(async (request: IncomingMessage, response) => {
    const body = await text(request);
    response.end('ok');
    waiting.get(Number(request.url?.split('/').pop()))?.(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    sign: (count: number, typed: string) => signCommands(count, typed, url),
    /** Sends a command, and waits until its user sees the answer. */
    ask: async (pool: Pool, command: SignedCommand): Promise<string> => {
      const posted = new Promise<string>((resolve) => waiting.set(command.nth, resolve));
      const said = await acknowledge(pool, command);
      const answer = said === '' ? await posted : said;
      waiting.delete(command.nth);
      return answer;
    },
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}

async function compare(
  { words, typed, aim }: Command,
  app: Contender,
  replies: Replies,
): Promise<readonly Figure[]> {
  const pool = new Pool(app.url, { connections: 64 });
  const [answer] = await Promise.all(replies.sign(1, typed).map((command) => replies.ask(pool, command)));
  await pool.close();
  await using bare = await start(`${ROOT}test/bench/bare-bolt.mjs`, {
    SLACK_SIGNING_SECRET: SIGNING_SECRET,
    REPLY: answer ?? '',
  });
  const figures: Figure[] = [];
  const warmUp = { concurrency: 16, count: 800, mostMs: 1500 };
  for (const contender of [bare, app]) await sample(contender, typed, warmUp, replies);
  for (const concurrency of CONCURRENCIES) {
    const load = { concurrency, count: concurrency === 1 ? 300 : 800, mostMs: 600 };
    const rounds: { bare: Sample; app: Sample }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const isFirst = round % 2 === 0;
      const one = await sample(isFirst ? bare : app, typed, load, replies);
      const other = await sample(isFirst ? app : bare, typed, load, replies);
      rounds.push(isFirst ? { bare: one, app: other } : { bare: other, app: one });
    }
    figures.push(describe(`/vps ${words}, ${concurrency} at a time`, rounds, aim));
  }
  return figures;
}

interface Round {
  readonly concurrency: number;
  readonly count: number;
  readonly mostMs: number;
}

async function sample(
  contender: Contender,
  typed: string,
  { count, ...load }: Round,
  { sign, ask }: Replies,
): Promise<Sample> {
  const pool = new Pool(contender.url, { connections: 64 });
  const taken = await measureLoad(contender, pool, sign(count, typed), { ...load, ask });
  await pool.close();
  return taken;
}

/** Medians of the rounds; of the ratios also the smallest and the largest, since other programs disturb single rounds. */
function describe(
  what: string,
  rounds: readonly { readonly bare: Sample; readonly app: Sample }[],
  aim: number,
): Figure {
  const middle = (read: (sample: Sample) => number) => rounded(median(rounds.map(({ app }) => read(app))));
  const ratios = (read: (sample: Sample) => number) => rounds.map(({ app, bare }) => read(app) / read(bare));
  const [p50, cpu] = [ratios(({ p50Ms }) => p50Ms), ratios(({ cpuUs }) => cpuUs)];
  const spread = `${rounded(Math.min(...cpu))} to ${rounded(Math.max(...cpu))}`;
  return {
    what,
    measured: `p50 ${middle(({ p50Ms }) => p50Ms)} ms, p99 ${middle(({ p99Ms }) => p99Ms)} ms, ${middle(({ cpuUs }) => cpuUs)} µs CPU (× ${spread})`,
    'x p50': rounded(median(p50)),
    'x CPU': rounded(median(cpu)),
    aim: `≤ ${aim} ×`,
    isMet: median(p50) <= aim && median(cpu) <= aim,
  };
}

/** Everybody at once, and a large account, each at a moment when no list is kept any more. */
export async function measureLists(): Promise<readonly Figure[]> {
  const burst = await measureLast(BURST, 20);
  const large = await measureLast(1, LARGE);
  return [
    atMost(`${BURST} /vps list at once, on new connections: the last`, burst, BURST_MS, 'ms'),
    atMost(`/vps list of ${LARGE}, read anew`, large, LARGE_MS, 'ms'),
  ];
}

/** When the last of so many lists has come that are asked for at once. The first run warms up. */
async function measureLast(count: number, servers: number): Promise<number> {
  await using replies = await startReplies();
  await using setting = await openSetting({ servers });
  await using app = await setting.startApp();
  const slowest: number[] = [];
  for (let run = 0; run < LIST_RUNS; run++) {
    await sleep(LIST_IS_KEPT_MS);
    const pool = new Pool(app.url, { connections: Math.min(count, MOST_CONNECTIONS) });
    const load = { concurrency: count, ask: replies.ask };
    const { latenciesMs } = await drive(pool, replies.sign(count, 'list'), load);
    slowest.push(Math.max(...latenciesMs));
    await pool.close();
  }
  return median(slowest.slice(1));
}
