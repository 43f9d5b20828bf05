import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus } from 'node:os';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { type SignedCommand, signCommands } from './commands.ts';
import { drive, median, quantile } from './load.ts';
import { settle } from './measure.ts';
import { type Contender, ROOT, start } from './processes.ts';
import { openSetting, SIGNING_SECRET } from './setting.ts';
import { measureStartUp } from './start-up.ts';

// The question: how long until the user sees the answer to a command, and what does it cost, beside a bare Bolt that acknowledges
// and posts the same bytes to the `response_url`? Both are processes of their own, over real HTTP, without TLS; rounds alternate.
// An answer is seen when it comes in the ack, or else when it arrives at the `response_url`.
const COMMANDS = [
  { words: 'help', typed: 'help', servers: 20 },
  { words: 'show', typed: 'show web-7', servers: 20 },
  { words: 'list of 20', typed: 'list', servers: 20 },
  { words: 'list of 50', typed: 'list', servers: 50 },
] as const;
/** Asks the hosting API each time, which takes 300 requests a minute: last, one at a time, and few. */
const STATUS = { words: 'status', typed: 'status' };
const ROUNDS = 5;
const BURST = 400;
const SLACK_WAITS_MS = 3000;
/** Longer than src/hosting/share.ts keeps a list, so that the burst finds none. */
const LIST_IS_KEPT_MS = 2500;

const { values: asked } = parseArgs({ options: { only: { type: 'string' } } });
const isAsked = (section: string) => asked.only === undefined || asked.only === section;

if (spawnSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' }).status !== 0)
  process.exit(1);
console.log(`Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), SQLite`);

const replies = await startReplies();
for (const servers of new Set(COMMANDS.map((each) => each.servers))) await measureWith(servers);
replies.server.close();

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
async function ask(pool: Pool, command: SignedCommand): Promise<{ ms: number; body: string }> {
  const posted = replies.next(command);
  const sentAt = performance.now();
  const { headers, body } = command;
  const ack = await pool.request({ path: '/slack/events', method: 'POST', headers, body });
  const said = await ack.body.text();
  if (ack.statusCode !== 200) throw new Error(`a command was answered with ${ack.statusCode}`);
  const answer = said === '' ? await posted : said;
  return { ms: performance.now() - sentAt, body: answer };
}

async function measureWith(servers: number): Promise<void> {
  await using setting = await openSetting({ servers });
  await using app = await start(`${ROOT}dist/main.js`, await setting.makeEnvironment());
  for (const { words, typed } of COMMANDS.filter((each) => each.servers === servers)) {
    if (isAsked('answers')) await compare(words, typed, app);
  }
  if (servers !== 20) return;
  if (isAsked('burst')) await measureBurst(app);
  if (isAsked('answers')) await compare(STATUS.words, STATUS.typed, app, 25);
  if (!isAsked('start')) return;
  console.log('\nStart of the built app, until /readyz answers 200');
  await measureStartUp(await setting.makeEnvironment());
}

function sign(count: number, typed: string): SignedCommand[] {
  return signCommands(count, { signingSecret: SIGNING_SECRET, replyTo: replies.url, text: typed });
}

async function compare(words: string, typed: string, app: Contender, most?: number): Promise<void> {
  const pool = new Pool(app.url, { connections: 64 });
  const REPLY = (await Promise.all(sign(1, typed).map((command) => ask(pool, command))))[0]?.body ?? '';
  await pool.close();
  await using bare = await start(`${ROOT}test/bench/bare-bolt.mjs`, {
    SLACK_SIGNING_SECRET: SIGNING_SECRET,
    REPLY,
  });
  const rows: Record<string, object> = {};
  for (const contender of [bare, app])
    await sample(contender, typed, { concurrency: 16, count: most ?? 600, mostMs: 1500 });
  for (const concurrency of most === undefined ? [1, 16, 64] : [1]) {
    const load = { concurrency, count: most ?? (concurrency === 1 ? 300 : 800), mostMs: 600 };
    const taken: { bare: Sample; app: Sample }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const first = round % 2 === 0 ? bare : app;
      const one = await sample(first, typed, load);
      const other = await sample(first === bare ? app : bare, typed, load);
      taken.push(first === bare ? { bare: one, app: other } : { bare: other, app: one });
    }
    rows[`${concurrency} at a time`] = describe(taken);
  }
  console.log(
    `\n/vps ${words}: an answer of ${REPLY.length} bytes; the app, and its ratio to a bare Bolt that posts them`,
  );
  console.table(rows);
}

/** Medians, in milliseconds and microseconds. */
interface Sample {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuUs: number;
}

async function sample(
  contender: Contender,
  typed: string,
  {
    concurrency,
    count,
    mostMs,
  }: { readonly concurrency: number; readonly count: number; readonly mostMs: number },
): Promise<Sample> {
  const pool = new Pool(contender.url, { connections: 64 });
  const before = await settle(contender);
  const answered = async (each: Pool, command: SignedCommand) => (await ask(each, command)).ms;
  const { latenciesMs } = await drive(pool, sign(count, typed), concurrency, mostMs, answered);
  const cpuUs = ((await settle(contender)) - before) / latenciesMs.length;
  await pool.close();
  return { p50Ms: median(latenciesMs), p99Ms: quantile(latenciesMs, 0.99), cpuUs };
}

function describe(taken: readonly { readonly bare: Sample; readonly app: Sample }[]): object {
  const middle = (read: (each: { readonly bare: Sample; readonly app: Sample }) => number) =>
    Number(median(taken.map(read)).toPrecision(3));
  return {
    'p50 ms': middle(({ app }) => app.p50Ms),
    'x p50': middle(({ app, bare }) => app.p50Ms / bare.p50Ms),
    'p99 ms': middle(({ app }) => app.p99Ms),
    'CPU us': middle(({ app }) => app.cpuUs),
    'x CPU': middle(({ app, bare }) => app.cpuUs / bare.cpuUs),
    'Bolt p50 ms': middle(({ bare }) => bare.p50Ms),
    'Bolt CPU us': middle(({ bare }) => bare.cpuUs),
  };
}

/** Everybody at once, at a moment when no list is kept any more. */
async function measureBurst(app: Contender): Promise<void> {
  await sleep(LIST_IS_KEPT_MS);
  const pool = new Pool(app.url, { connections: BURST });
  const answers = await Promise.all(sign(BURST, 'list').map((command) => ask(pool, command)));
  await pool.close();
  const ms = answers.map((each) => each.ms);
  const slowest = Math.max(...ms);
  console.log(
    `\n${BURST} /vps list at once, on as many new connections: seen after ${median(ms).toFixed(0)} ms (median), ${slowest.toFixed(0)} ms (last)`,
  );
  if (slowest < SLACK_WAITS_MS) return;
  console.error(`Slack waits for ${SLACK_WAITS_MS} ms: the app took longer.`);
  process.exitCode = 1;
}
