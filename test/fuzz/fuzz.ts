import { setTimeout as sleep } from 'node:timers/promises';
import { makeDice } from '../support/tries.ts';
import { judgeAnswer, makeAnswer } from './answers.ts';
import { type Arena, startArena } from './arena.ts';
import { makePageRequest, speak } from './pages.ts';
import { deliver, makeMalformed, type Surface } from './slack.ts';

/** Generous: the machine may be busy. Slack itself waits for 3 s. */
const PATIENCE_MS = 30_000;
const AT_ONCE = 32;
/** The records of a team grow with each input, and are judged at its end. */
const INPUTS_OF_AN_ARENA = 4000;

/** One malformed input, and what became of it. */
interface Try {
  readonly number: number;
  readonly entrance: string;
  /** The sample, what was done to it, and the whole input as text. */
  readonly done: readonly string[];
  readonly input: string;
}

export interface Failure extends Try {
  readonly fault: string;
  readonly times: number;
}

interface FuzzResult {
  readonly counts: ReadonlyMap<string, number>;
  /** The first of each kind. */
  readonly failures: readonly Failure[];
  readonly seconds: number;
}

/** How many of a hundred inputs come in by each entrance. */
const ENTRANCES: readonly (readonly [string, number])[] = [
  ['events', 10],
  ['slash commands', 14],
  ['forms', 12],
  ['buttons and menus', 18],
  ['suggestions', 5],
  ['shortcuts', 4],
  ['hosting answers', 23],
  ['pages', 14],
];

const SURFACES: Readonly<Record<string, Surface>> = {
  events: 'event',
  'slash commands': 'command',
  forms: 'modal',
  'buttons and menus': 'action',
  suggestions: 'menu',
  shortcuts: 'shortcut',
};

/** Traces of the source code. */
const INSIDES = /\bat .+:\d+:\d+|node_modules|file:\/\/|\.[jt]s:\d+|TypeError|SyntaxError|ZodError|\/src\//;

type Judge = () => Promise<readonly string[]>;

/** Makes the input with this number: the same one for the same seed, but for the time and what Slack makes up for each request. */
async function make(
  arena: Arena,
  seed: number,
  number: number,
  only?: string,
): Promise<Try & { judge: Judge }> {
  const dice = makeDice(seed * 1_000_003 + number);
  const lots = ENTRANCES.flatMap(([name, share]) => Array<string>(share).fill(name));
  const drawn = dice.pick(lots) ?? 'pages';
  const entrance = only ?? drawn;
  const surface = SURFACES[entrance];
  if (surface) {
    const { done, ...request } = await makeMalformed(arena, surface, dice, number);
    const judge = () => judgeRequest(arena, request);
    return { number, entrance, done, input: JSON.stringify([request.headers, request.body]), judge };
  }
  if (entrance === 'hosting answers') {
    const { row, done } = makeAnswer(dice);
    return { number, entrance, done, input: String(row.body), judge: () => judgeAnswer(row) };
  }
  const { port, text, done } = await makePageRequest(arena, dice);
  return { number, entrance, done, input: text, judge: () => judgePage(arena, port, text) };
}

async function judgeRequest(
  arena: Arena,
  request: Parameters<typeof deliver>[0],
): Promise<readonly string[]> {
  const { status, text } = await deliver(request, PATIENCE_MS);
  const isRight = status === 200 || (status >= 400 && status < 500);
  return [...(isRight ? [] : [`answered with ${status}`]), ...findInside(arena, text)];
}

async function judgePage(arena: Arena, port: number, bytes: string): Promise<readonly string[]> {
  const text = await speak(port, bytes, PATIENCE_MS);
  const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));
  // Slack refuses a code that was changed.
  const wrong = statuses.filter(
    (status) => status >= 500 && !(status === 502 && text.includes('Slack didn')),
  );
  return [...wrong.map((status) => `answered with ${status}`), ...findInside(arena, text)];
}

function findInside({ secrets }: Arena, text: string): readonly string[] {
  const shown = Object.entries(secrets).filter(([, secret]) => secret !== '' && text.includes(secret));
  return [
    ...shown.map(([name]) => `shows ${name}`),
    ...(INSIDES.test(text) ? [`shows its insides: ${INSIDES.exec(text)?.[0]}`] : []),
    ...(text.length > 20_000 ? [`an answer of ${text.length} characters`] : []),
  ];
}

interface FuzzOptions {
  readonly seed: number;
  readonly count: number;
  /** The first input; with a count of 1 the only one. */
  readonly first?: number;
  /** Only this entrance. */
  readonly only?: string;
  readonly say?: (words: string) => void;
}

/** Sends so many malformed inputs. What can't be seen in an answer is charged to one of the inputs before it. */
export async function fuzz({ seed, count, first = 0, only, say }: FuzzOptions): Promise<FuzzResult> {
  const startedMs = Date.now();
  const counts = new Map<string, number>();
  const failures = new Map<string, Failure>();
  const note = (fault: string, one: Try) => {
    const kind = `${one.entrance} ${fault.replaceAll(/\d+|"[^"]*"/g, '…').slice(0, 160)}`;
    const known = failures.get(kind);
    failures.set(kind, known ? { ...known, times: known.times + 1 } : { ...one, fault, times: 1 });
    if (!known) say?.(describeFailure({ ...one, fault, times: 1 }, seed));
  };
  const unhandled: string[] = [];
  const onUnhandled = (error: unknown) =>
    unhandled.push(`not handled: ${error instanceof Error ? error.stack : String(error)}`);
  process.on('unhandledRejection', onUnhandled);
  process.on('uncaughtException', onUnhandled);
  const end = first + count;
  const sendAll = async (arena: Arena, from: number, to: number) => {
    let last: Try | undefined;
    let next = from;
    const collect = () => {
      for (const fault of [...unhandled.splice(0), ...arena.takeFaults()])
        if (last) note(fault, { ...last, entrance: `this or one of the ${2 * AT_ONCE} before it` });
    };
    const work = async () => {
      while (next < to) {
        const number = next++;
        const one = await make(arena, seed, number, only);
        counts.set(one.entrance, (counts.get(one.entrance) ?? 0) + 1);
        last = one;
        const faults = await one.judge().catch((error: unknown) => [String(error)]);
        for (const fault of faults) note(fault, one);
        if (number % AT_ONCE === 0) {
          for (const who of ['vera', 'nora', 'gus', 'sam', 'olga', 'otto', 'mara'] as const)
            for (const { slack } of [arena.team, arena.installs]) slack.as(who).reloads();
        }
        collect();
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, to - from) }, work));
    // What goes on after its answer.
    await sleep(count === 1 ? 1500 : 500);
    collect();
  };
  try {
    for (let from = first; from < end; from += INPUTS_OF_AN_ARENA) {
      const to = Math.min(end, from + INPUTS_OF_AN_ARENA);
      const arena = await startArena();
      await sendAll(arena, from, to);
      // The invariants of a team are judged when it closes.
      try {
        await arena[Symbol.asyncDispose]();
      } catch (error) {
        note(String(error), { number: from, entrance: 'all', done: [`inputs ${from} to ${to}`], input: '' });
      }
      say?.(
        `${to - first} inputs, ${failures.size} kinds of failures, ${Math.round((Date.now() - startedMs) / 1000)} s`,
      );
    }
  } finally {
    process.off('unhandledRejection', onUnhandled);
    process.off('uncaughtException', onUnhandled);
  }
  return { counts, failures: [...failures.values()], seconds: (Date.now() - startedMs) / 1000 };
}

export function describeFuzz({ counts, failures, seconds }: FuzzResult, seed: number): string {
  const total = [...counts.values()].reduce((sum, each) => sum + each, 0);
  const rows = [...counts].map(([name, times]) => `${String(times).padStart(8)}  ${name}`);
  const shown = failures.map((failure) => describeFailure(failure, seed));
  return [
    ...rows,
    `fuzz: ${total} inputs, --seed ${seed}, ${Math.round(seconds)} s, ${failures.length} kinds of failures`,
    ...shown,
  ].join('\n');
}

function describeFailure({ entrance, fault, times, number, done, input }: Failure, seed: number): string {
  const shown = input.length > 600 ? `${input.slice(0, 600)}… (${input.length} characters)` : input;
  return `FAILURE, ${times} times: ${entrance}: ${fault}\n  --seed ${seed} --case ${number}: ${done.join('; ')}\n  ${shown}`;
}
