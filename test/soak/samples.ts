import { readdirSync, readFileSync } from 'node:fs';
import { readSize } from './invariants.ts';
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
interface Sample {
  readonly minute: number;
  readonly acts: number;
  readonly charges: number;
  readonly processes: readonly ProcessSample[];
  /** Bytes; absent while the database is away. */
  readonly database: number | undefined;
}

/** Takes a sample now and then once a minute, and says what it shows. */
export function watchSamples(team: SoakTeam, say: (words: string) => void) {
  const samples: Sample[] = [];
  const look = async () => {
    const sample: Sample = {
      minute: Math.round((Date.now() - team.startedAtMs) / MINUTE_MS),
      acts: [...team.recorded.acts.values()].reduce((sum, times) => sum + times, 0),
      charges: team.hosting.charges(team.account).length,
      processes: [...team.processes.places().values()].flatMap(({ pid }) => sampleProcess(pid)),
      database: await readSize(team),
    };
    samples.push(sample);
    say(describeSample(sample));
  };
  const first = look();
  const timer = setInterval(() => void look(), MINUTE_MS);
  return {
    stop: async (): Promise<readonly Sample[]> => {
      clearInterval(timer);
      await first;
      return samples;
    },
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

function describeSample({ minute, acts, charges, processes, database }: Sample): string {
  const parts = [
    `${minute} min`,
    `${acts} acts, ${charges} charges`,
    `memory ${processes.map(({ memoryBytes }) => inMib(memoryBytes)).join('/')} MiB`,
    `handles ${processes.map(({ handles }) => handles).join('/')}`,
    database ? `database ${inMib(database)} MiB` : 'database away',
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

/**
 * Compares the first quarter with the last one: memory and handles of each process that lived long enough, and what an act adds
 * to the database. The audit and the ledger are kept, so the database grows with what is done.
 */
export function listGrowth(samples: readonly Sample[]) {
  const pids = [...new Set(samples.flatMap(({ processes }) => processes.map(({ pid }) => pid)))];
  const ofProcesses = pids.flatMap((pid) => {
    const own = samples.flatMap(({ processes }) => processes.find((one) => one.pid === pid) ?? []);
    if (own.length < FEWEST) return [];
    const warm = own.slice(WARM_UP);
    const memory = warm.map(({ memoryBytes }) => memoryBytes / MIB);
    const handles = warm.map((one) => one.handles);
    return [
      compareQuarters(`MiB of memory of process ${pid}`, memory),
      compareQuarters(`handles of process ${pid}`, handles),
    ];
  });
  const counted = samples.flatMap(({ acts, database }) => (database ? [{ acts, bytes: database }] : []));
  if (counted.length < FEWEST) return ofProcesses;
  const perAct = counted.slice(1).flatMap((one, at) => {
    const { acts = 0, bytes = 0 } = counted[at] ?? {};
    return one.acts > acts ? [(one.bytes - bytes) / 1024 / (one.acts - acts)] : [];
  });
  return [...ofProcesses, compareQuarters('KiB of the database for an act', perAct)];
}

function compareQuarters(what: string, values: readonly number[]) {
  const quarter = Math.ceil(values.length / 4);
  const mean = (some: readonly number[]) => some.reduce((sum, one) => sum + one, 0) / some.length;
  const [first, last] = [mean(values.slice(0, quarter)), mean(values.slice(-quarter))];
  const isFlat = last <= first * MOST_GROWTH;
  const words = `${isFlat ? 'flat' : 'not flat'}: ${first.toFixed(1)} and then ${last.toFixed(1)} ${what}`;
  return { isFlat, words };
}
