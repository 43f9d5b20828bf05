import type { Pool } from 'undici';
import type { SignedCommand } from './commands.ts';
import { median, quantile } from './figures.ts';
import { type Contender, settle } from './processes.ts';

/** How a load is sent: each of `concurrency` senders waits for an answer before it sends the next one, for `mostMs` at most. */
interface Load {
  readonly concurrency: number;
  readonly mostMs?: number;
  /** Sends one, and resolves when it is answered; by default when it is acknowledged. */
  readonly ask?: (pool: Pool, command: SignedCommand) => Promise<unknown>;
}

/** Sends commands; gives how long the answer to each took, and all of them together, in milliseconds. */
export async function drive(
  pool: Pool,
  commands: readonly SignedCommand[],
  { concurrency, mostMs = Number.POSITIVE_INFINITY, ask = acknowledge }: Load,
) {
  const latenciesMs: number[] = [];
  const waiting = commands.values();
  const startedAt = performance.now();
  const send = async (): Promise<void> => {
    for (const command of waiting) {
      const sentAt = performance.now();
      await ask(pool, command);
      latenciesMs.push(performance.now() - sentAt);
      if (performance.now() - startedAt > mostMs) return;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, send));
  return { latenciesMs, elapsedMs: performance.now() - startedAt };
}

/** Sends a command, and gives what its acknowledgement says. @throws Error when it is not acknowledged with 200 */
export async function acknowledge(pool: Pool, { headers, body }: SignedCommand): Promise<string> {
  const answer = await pool.request({ path: '/slack/events', method: 'POST', headers, body });
  const said = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`a command was answered with ${answer.statusCode}`);
  return said;
}

export type Sample = Awaited<ReturnType<typeof measureLoad>>;

/** Measures how long answers take, and how long each keeps the process at work. */
export async function measureLoad(
  contender: Contender,
  pool: Pool,
  commands: readonly SignedCommand[],
  load: Load,
) {
  const before = await settle(contender);
  const { latenciesMs } = await drive(pool, commands, load);
  const cpuUs = ((await settle(contender)) - before) / latenciesMs.length;
  return { p50Ms: median(latenciesMs), p99Ms: quantile(latenciesMs, 0.99), cpuUs };
}
