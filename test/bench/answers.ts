import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { SIGNING_SECRET } from '../support/environment.ts';
import { type SignedCommand, signCommands } from './commands.ts';
import { atMost, type Figure, median, quantile, rounded } from './figures.ts';
import { drive } from './load.ts';
import { type Contender, ROOT, settle, start } from './processes.ts';
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
const LARGE_RUNS = 5;
/** Longer than src/hosting/share.ts keeps a list, so that a command finds none. */
const LIST_IS_KEPT_MS = 2500;

type Replies = Awaited<ReturnType<typeof startReplies>>;

/** Compares every command with a bare Bolt. `postgres`: the server of PostgreSQL to use in the place of SQLite. */
export async function measureAnswers(postgres?: string): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  const replies = await startReplies();
  for (const servers of new Set(COMMANDS.map((each) => each.servers))) {
    await using setting = await openSetting({ servers, postgres });
    await using app = await start(`${ROOT}dist/main.js`, await setting.makeEnvironment());
    for (const command of COMMANDS.filter((each) => each.servers === servers))
      figures.push(...(await compare(command, app, replies)));
  }
  replies.server.close();
  return figures.map((figure) => ({
    ...figure,
    what: `${figure.what}, ${postgres ? 'PostgreSQL' : 'SQLite'}`,
  }));
}

/** Slack's side of the `response_url`s: tells when the answer to each command has come. */
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
    server,
    url,
    /** Resolves with the body of the first answer to this command. */
    next: ({ nth }: SignedCommand): Promise<string> =>
      new Promise((resolve) => {
        waiting.set(nth, (body) => {
          waiting.delete(nth);
          resolve(body);
        });
      }),
  };
}

/** Sends a command, and waits until its user sees the answer. */
async function ask(
  pool: Pool,
  command: SignedCommand,
  replies: Replies,
): Promise<{ ms: number; body: string }> {
  const posted = replies.next(command);
  const sentAt = performance.now();
  const { headers, body } = command;
  const ack = await pool.request({ path: '/slack/events', method: 'POST', headers, body });
  const said = await ack.body.text();
  if (ack.statusCode !== 200) throw new Error(`a command was answered with ${ack.statusCode}`);
  const answer = said === '' ? await posted : said;
  return { ms: performance.now() - sentAt, body: answer };
}

function sign(count: number, typed: string, replies: Replies): SignedCommand[] {
  return signCommands(count, typed, replies.url);
}

async function compare(
  { words, typed, aim }: Command,
  app: Contender,
  replies: Replies,
): Promise<readonly Figure[]> {
  const pool = new Pool(app.url, { connections: 64 });
  const [first] = await Promise.all(sign(1, typed, replies).map((command) => ask(pool, command, replies)));
  await pool.close();
  await using bare = await start(`${ROOT}test/bench/bare-bolt.mjs`, {
    SLACK_SIGNING_SECRET: SIGNING_SECRET,
    REPLY: first?.body ?? '',
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

interface Sample {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuUs: number;
}

interface Load {
  readonly concurrency: number;
  readonly count: number;
  readonly mostMs: number;
}

async function sample(contender: Contender, typed: string, load: Load, replies: Replies): Promise<Sample> {
  const pool = new Pool(contender.url, { connections: 64 });
  const before = await settle(contender);
  const answered = async (each: Pool, command: SignedCommand) => (await ask(each, command, replies)).ms;
  const commands = sign(load.count, typed, replies);
  const latenciesMs = await drive(pool, commands, load.concurrency, load.mostMs, answered);
  const cpuUs = ((await settle(contender)) - before) / latenciesMs.length;
  await pool.close();
  return { p50Ms: median(latenciesMs), p99Ms: quantile(latenciesMs, 0.99), cpuUs };
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
  const replies = await startReplies();
  const burst = await openSetting({ servers: 20 }).then(async (setting) => {
    await using app = await start(`${ROOT}dist/main.js`, await setting.makeEnvironment());
    const slowest: number[] = [];
    for (let run = 0; run < LARGE_RUNS; run++)
      slowest.push(Math.max(...(await askAtOnce(BURST, app, replies))));
    await setting[Symbol.asyncDispose]();
    return slowest.slice(1);
  });
  const large = await openSetting({ servers: LARGE }).then(async (setting) => {
    await using app = await start(`${ROOT}dist/main.js`, await setting.makeEnvironment());
    const took: number[] = [];
    for (let run = 0; run < LARGE_RUNS; run++) took.push(...(await askAtOnce(1, app, replies)));
    await setting[Symbol.asyncDispose]();
    return took.slice(1);
  });
  replies.server.close();
  return [
    atMost(`${BURST} /vps list at once, on new connections: the last`, median(burst), BURST_MS, 'ms'),
    atMost(`/vps list of ${LARGE}, read anew`, median(large), LARGE_MS, 'ms'),
  ];
}

async function askAtOnce(count: number, app: Contender, replies: Replies): Promise<number[]> {
  await sleep(LIST_IS_KEPT_MS);
  const pool = new Pool(app.url, { connections: Math.min(count, MOST_CONNECTIONS) });
  const commands = sign(count, 'list', replies);
  const answers = await Promise.all(commands.map((command) => ask(pool, command, replies)));
  await pool.close();
  return answers.map(({ ms }) => ms);
}
