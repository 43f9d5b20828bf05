import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { signCommands, type Typed } from './commands.ts';
import { drive, median, quantile } from './load.ts';
import type { Contender } from './processes.ts';
import type { Setting } from './setting.ts';

/** One contender with one kind of command. */
export interface Subject {
  readonly name: string;
  readonly contender: Contender;
  readonly pool: Pool;
  readonly typed: Typed;
  /** Whether every command is replied to by a message. */
  readonly replies: boolean;
}

/** What one run of one subject came to. */
interface Sample {
  readonly acksPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly cpuUs: number;
  /** Replies over the time until the last of them; not a number without replies. */
  readonly donePerSecond: number;
}

const REPLIES_WITHIN_MS = 10_000;

export interface Load {
  readonly concurrency: number;
  readonly count: number;
  readonly mostMs: number;
  readonly rounds: number;
}

/** Names a contender with what is typed to it. */
export function makeSubject(name: string, contender: Contender, typed: Typed, replies: boolean): Subject {
  return { name, contender, typed, replies, pool: new Pool(contender.url, { connections: 64 }) };
}

/**
 * Measures all subjects in turn, round by round, so that whatever else the machine does hits all of them alike;
 * every round in another order. Prints medians; the first subject is what the others are compared with.
 */
export async function compare(subjects: readonly Subject[], load: Load, setting: Setting): Promise<void> {
  const samples = new Map<Subject, Sample[]>(subjects.map((subject) => [subject, []]));
  for (let round = 0; round < load.rounds; round++) {
    for (let at = 0; at < subjects.length; at++) {
      const subject = subjects[(at + round) % subjects.length];
      if (subject) samples.get(subject)?.push(await measure(subject, load, setting));
    }
  }
  const yardstick = subjects[0] ? (samples.get(subjects[0]) ?? []) : [];
  const rows = [...samples].map(([{ name }, taken]) => [name, describe(taken, yardstick)]);
  console.table(Object.fromEntries(rows));
}

async function measure(subject: Subject, load: Load, setting: Setting): Promise<Sample> {
  const { contender, pool } = subject;
  const commands = signCommands(load.count, subject.typed);
  const cpuBefore = await contender.cpuUs();
  const { replies: before } = await setting.replies();
  const startedAt = performance.timeOrigin + performance.now();
  const { latenciesMs, elapsedMs } = await drive(pool, commands, load.concurrency, load.mostMs);
  const count = latenciesMs.length;
  const lastReplyAt = subject.replies ? await awaitReplies(before + count, setting) : Number.NaN;
  const cpuAfter = await settle(contender);
  return {
    acksPerSecond: (1000 * count) / elapsedMs,
    p50Ms: median(latenciesMs),
    p99Ms: quantile(latenciesMs, 0.99),
    maxMs: Math.max(...latenciesMs),
    cpuUs: (cpuAfter - cpuBefore) / count,
    donePerSecond: (1000 * count) / (lastReplyAt - startedAt),
  };
}

/** Waits until so many replies have come; returns when the last one did. @throws Error when they don't come */
export async function awaitReplies(expected: number, setting: Setting): Promise<number> {
  const givenUpAt = performance.now() + REPLIES_WITHIN_MS;
  for (;;) {
    const { replies, lastReplyAt } = await setting.replies();
    if (replies >= expected) return lastReplyAt;
    if (performance.now() > givenUpAt)
      throw new Error(`${expected - replies} commands were never replied to`);
    await sleep(5);
  }
}

/** Waits until the process has nothing left to do; returns the CPU time it had used by then, microseconds. */
export async function settle(contender: Contender): Promise<number> {
  let used = await contender.cpuUs();
  for (let looks = 0; looks < 200; looks++) {
    await sleep(25);
    const now = await contender.cpuUs();
    if (now - used < 1500) return now;
    used = now;
  }
  throw new Error('a process does not come to rest');
}

function describe(samples: readonly Sample[], yardstick: readonly Sample[]): Record<string, number | string> {
  const middle = (read: (sample: Sample) => number): number => median(samples.map(read));
  const ratios = samples.map((sample, round) => sample.cpuUs / (yardstick[round]?.cpuUs ?? Number.NaN));
  return {
    'acks/s': Math.round(middle((sample) => sample.acksPerSecond)),
    'p50 ms': rounded(middle((sample) => sample.p50Ms)),
    'p99 ms': rounded(middle((sample) => sample.p99Ms)),
    'max ms': rounded(Math.max(...samples.map((sample) => sample.maxMs))),
    'CPU us': Math.round(middle((sample) => sample.cpuUs)),
    'CPU us, least': Math.round(Math.min(...samples.map((sample) => sample.cpuUs))),
    'x CPU': rounded(median(ratios)),
    'done/s': Math.round(middle((sample) => sample.donePerSecond)) || '',
  };
}

function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
