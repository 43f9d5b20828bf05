import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { signCommands } from './commands.ts';
import { drive, quantile } from './load.ts';
import { awaitReplies, compare, makeSubject, type Subject, settle } from './measure.ts';
import { type Contender, ROOT, start } from './processes.ts';
import { openSetting, SERVERS, SIGNING_SECRET } from './setting.ts';
import { measureStartUp } from './start-up.ts';

// The questions: what does one `/vps list` cost, compared with a bare Bolt that only acknowledges it; how soon is it
// acknowledged, alone and among many; what do 400 at once do; how soon is the app ready, and how large is it?
// Every contender is a process of its own, over real HTTP, without TLS.
const BURST = 400;
const SLACK_WAITS_MS = 3_000;
/** Longer than src/hosting/chain.ts keeps a list, so that the burst finds none. */
const LIST_IS_KEPT_MS = 2_500;
const APP = `${ROOT}dist/main.js`;
const BARE = `${ROOT}test/bench/bare-bolt.mjs`;

const { values: asked } = parseArgs({
  options: {
    /** Only this section: `acks`, `parts`, `burst` or `start`. */
    only: { type: 'string' },
    /** The `main.js` of another build, measured beside this one. */
    against: { type: 'string' },
  },
});
const isAsked = (section: string) => asked.only === undefined || asked.only === section;

if (spawnSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' }).status !== 0)
  process.exit(1);
await using setting = await openSetting();
const typed = { signingSecret: SIGNING_SECRET, replyTo: setting.slack.url };
await measureCommands();
if (isAsked('start')) {
  console.log('\nStart of the built app, until /readyz answers 200');
  await measureStartUp(await setting.makeEnvironment());
}

async function measureCommands(): Promise<void> {
  await using app = await start(APP, await setting.makeEnvironment());
  await warm(app);
  await using bare = await start(BARE, { SLACK_SIGNING_SECRET: SIGNING_SECRET });
  await warm(bare);
  const yardstick = makeSubject('bare Bolt, only acknowledges', bare, typed, false);
  if (isAsked('acks')) await measureAcks(app, yardstick);
  if (isAsked('parts')) await measureParts(app, yardstick);
  if (isAsked('burst')) await measureBurst(app);
}

/** Bolt that acknowledges, Bolt that also posts the very message that the app posts, and the app, at three loads. */
async function measureAcks(app: Contender, yardstick: Subject): Promise<void> {
  const { lastReply: REPLY } = await setting.replies();
  await using replying = await start(BARE, { SLACK_SIGNING_SECRET: SIGNING_SECRET, REPLY });
  await warm(replying);
  await using other = asked.against ? await start(asked.against, await setting.makeEnvironment()) : undefined;
  if (other) await warm(other);
  const subjects = [
    yardstick,
    makeSubject('bare Bolt, posts a fixed reply', replying, typed, true),
    ...(other ? [makeSubject('the app, the other build', other, typed, true)] : []),
    makeSubject('the app', app, typed, true),
  ];
  for (const concurrency of [1, 16, 64]) {
    console.log(`\n/vps list of ${SERVERS} servers, ${concurrency} at a time`);
    const count = concurrency === 1 ? 300 : 800;
    await compare(subjects, { concurrency, count, mostMs: 600, rounds: 5 }, setting);
  }
  console.log(`  CPU is all that the process spends on a command, what it does after the acknowledgement included:
  bare Bolt nothing, or a post of a fixed message of ${REPLY.length} bytes by its own \`respond\`; the app three reads of
  its database, the list, the table and the post. Times are those of the acknowledgement alone.`);
}

/** Where the app's CPU goes, told apart by what is left out. */
async function measureParts(app: Contender, yardstick: Subject): Promise<void> {
  console.log('\nWhat the app does for it, 16 at a time');
  const nowhere = { signingSecret: SIGNING_SECRET };
  const subjects = [
    yardstick,
    // Slack writes no such user id: it is acknowledged, found unreadable and dropped.
    makeSubject('the app: acknowledges, no more', app, { ...nowhere, userId: 'U'.repeat(65) }, false),
    makeSubject('... lets in, lists, makes the table', app, nowhere, false),
    makeSubject('... and posts it', app, typed, true),
  ];
  await compare(subjects, { concurrency: 16, count: 800, mostMs: 600, rounds: 5 }, setting);
}

/** Everybody at once, at a moment when no list is kept any more. */
async function measureBurst(app: Contender): Promise<void> {
  await sleep(LIST_IS_KEPT_MS);
  const { replies: before } = await setting.replies();
  const requestsBefore = setting.hosting.requests().length;
  const pool = new Pool(app.url, { connections: BURST });
  const sentAt = performance.timeOrigin + performance.now();
  const { latenciesMs } = await drive(pool, signCommands(BURST, typed), BURST, Number.POSITIVE_INFINITY);
  const lastReplyAt = await awaitReplies(before + BURST, setting);
  const slowestMs = Math.max(...latenciesMs);
  console.log(`\n${BURST} /vps list at once, on as many new connections
  acknowledged  p50 ${quantile(latenciesMs, 0.5).toFixed(0)} ms, p99 ${quantile(latenciesMs, 0.99).toFixed(0)} ms, last ${slowestMs.toFixed(0)} ms
  replied to    all, the last after ${(lastReplyAt - sentAt).toFixed(0)} ms
  requests to the hosting API: ${setting.hosting.requests().length - requestsBefore}`);
  await pool.close();
  if (slowestMs < SLACK_WAITS_MS) return;
  console.error(`Slack waits for ${SLACK_WAITS_MS} ms: the app took longer.`);
  process.exitCode = 1;
}

/** Lets the compiler of JavaScript do its work first. */
async function warm(contender: Contender): Promise<void> {
  const pool = new Pool(contender.url, { connections: 16 });
  await drive(pool, signCommands(600, typed), 16, 1500);
  await pool.close();
  await settle(contender);
}
