import { readdirSync, readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type Counted, readCounted } from './invariants.ts';
import type { SoakTeam } from './soak-team.ts';

const MINUTE_MS = 60_000;
const PAGE_BYTES = 4096;
const MIB = 2 ** 20;

interface ProcessSample {
  readonly pid: number;
  readonly memoryBytes: number;
  readonly handles: number;
}

/** How everything stands at one moment; the counts are from the start. */
export interface Sample {
  readonly minute: number;
  readonly acts: number;
  readonly charges: number;
  readonly processes: readonly ProcessSample[];
  /** Absent while the database is away. */
  readonly database?: Counted;
  readonly ownMemoryBytes: number;
  /** The longest that this process stood still, and with it the hosting service and Slack: what they count is late by so much. */
  readonly ownPauseMs: number;
}

/** Takes a sample now and then once a minute, and hands each over with the one before it. */
export function watchSamples(team: SoakTeam, take: (sample: Sample, before: Sample | undefined) => void) {
  const samples: Sample[] = [];
  const statements = countAcrossRestarts();
  const delay = monitorEventLoopDelay();
  delay.enable();
  const look = async () => {
    const before = samples.at(-1);
    const database = await readCounted(team);
    const sample: Sample = {
      minute: Math.round((Date.now() - team.startedAtMs) / MINUTE_MS),
      acts: [...team.recorded.acts.values()].reduce((sum, times) => sum + times, 0),
      charges: team.hosting.charges(team.account).length,
      processes: [...team.processes.places().values()].flatMap(({ pid }) => sampleProcess(pid)),
      ...(database && { database: { ...database, statements: statements(database.statements) } }),
      ownMemoryBytes: process.memoryUsage().rss,
      ownPauseMs: Math.round(delay.max / 1e6),
    };
    delay.reset();
    samples.push(sample);
    take(sample, before);
  };
  const first = look();
  const timer = setInterval(() => void look(), MINUTE_MS);
  return {
    stop: async (): Promise<readonly Sample[]> => {
      clearInterval(timer);
      delay.disable();
      await first;
      return samples;
    },
  };
}

/** PostgreSQL counts from its last crash. */
function countAcrossRestarts(): (counted: number) => number {
  let last = 0;
  let sum = 0;
  return (counted) => {
    sum += counted < last ? counted : counted - last;
    last = counted;
    return sum;
  };
}

/** Nothing where there is no `/proc`, or no such process any more. */
function sampleProcess(pid: number): ProcessSample[] {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    return [{ pid, memoryBytes: pages * PAGE_BYTES, handles: readdirSync(`/proc/${pid}/fd`).length }];
  } catch {
    return [];
  }
}

export function describeSample(sample: Sample, before: Sample | undefined, violations: number): string {
  const { minute, acts, charges, processes, database, ownMemoryBytes, ownPauseMs } = sample;
  const since = before?.database && database && database.statements - before.database.statements;
  const parts = [
    `${minute} min`,
    `${acts} acts, ${charges} charges`,
    `memory ${processes.map(({ memoryBytes }) => inMib(memoryBytes)).join('/')} MiB`,
    `handles ${processes.map(({ handles }) => handles).join('/')}`,
    database ? `database ${inMib(database.bytes)} MiB, ${database.jobs} jobs` : 'database away',
    ...(since === undefined ? [] : [`${Math.round(since / 60)} statements/s`]),
    ...(database ? [`oldest due job ${Math.round(database.oldestDueMs / 1000)} s`] : []),
    `soak itself ${inMib(ownMemoryBytes)} MiB, stood still for ${ownPauseMs} ms`,
    `${violations} violations`,
  ];
  return `soak: ${parts.join('; ')}`;
}

function inMib(bytes: number): string {
  return (bytes / MIB).toFixed(0);
}

/** A process needs so many samples to be judged; its first ones, while it warms up, are left out. */
const FEWEST = 12;
const WARM_UP = 2;
const MOST_GROWTH = 1.5;

interface Growth {
  readonly what: string;
  readonly first: number;
  readonly last: number;
  readonly isFlat: boolean;
}

/**
 * Compares the first quarter with the last one: memory and handles of each process that lived long enough, and what an act costs
 * the database. The audit and the ledger are kept, so the database grows with what is done.
 */
export function listGrowth(samples: readonly Sample[]): readonly Growth[] {
  const pids = [...new Set(samples.flatMap(({ processes }) => processes.map(({ pid }) => pid)))];
  const ofProcesses = pids.flatMap((pid) => {
    const own = samples.flatMap(({ processes }) => processes.find((one) => one.pid === pid) ?? []);
    if (own.length < FEWEST) return [];
    const warm = own.slice(WARM_UP);
    const compare = (what: string, numberOf: (one: ProcessSample) => number) =>
      compareQuarters(`${what} of process ${pid}`, warm.map(numberOf));
    return [
      compare('MiB of memory', ({ memoryBytes }) => memoryBytes / MIB),
      compare('handles', ({ handles }) => handles),
    ];
  });
  const counted = samples.flatMap(({ acts, database }) => (database ? [{ acts, ...database }] : []));
  if (counted.length < FEWEST) return ofProcesses;
  const perAct = (numberOf: (one: Counted) => number) =>
    counted.slice(1).flatMap((one, at) => {
      const before = counted[at];
      const acts = one.acts - (before?.acts ?? 0);
      return before && acts > 0 ? [(numberOf(one) - numberOf(before)) / acts] : [];
    });
  return [
    ...ofProcesses,
    compareQuarters(
      'statements for an act',
      perAct(({ statements }) => statements),
    ),
    compareQuarters(
      'KiB of the database for an act',
      perAct(({ bytes }) => bytes / 1024),
    ),
  ];
}

function compareQuarters(what: string, values: readonly number[]): Growth {
  const quarter = Math.ceil(values.length / 4);
  const mean = (some: readonly number[]) => some.reduce((sum, one) => sum + one, 0) / some.length;
  const first = mean(values.slice(0, quarter));
  const last = mean(values.slice(-quarter));
  return { what, first, last, isFlat: last <= first * MOST_GROWTH };
}

export function describeGrowth({ what, first, last, isFlat }: Growth): string {
  return `${isFlat ? 'flat' : 'not flat'}: ${first.toFixed(1)} and then ${last.toFixed(1)} ${what}`;
}
