import type { Pool } from 'undici';
import type { SignedCommand } from './commands.ts';

/**
 * Sends commands in a closed loop: each of `concurrency` senders waits for its acknowledgement before it sends
 * the next one. Ends when all are sent, or after `mostMs`. Returns how long each took, in milliseconds.
 * @param answer sends one, and returns how long that took, in milliseconds; by default until it is acknowledged
 * @throws Error when a command is not acknowledged with 200
 */
export async function drive(
  pool: Pool,
  commands: readonly SignedCommand[],
  concurrency: number,
  mostMs: number,
  answer: (pool: Pool, command: SignedCommand) => Promise<number> = acknowledge,
): Promise<readonly number[]> {
  const latenciesMs: number[] = [];
  const waiting = commands.values();
  const startedAt = performance.now();
  const send = async (): Promise<void> => {
    for (const command of waiting) {
      latenciesMs.push(await answer(pool, command));
      if (performance.now() - startedAt > mostMs) return;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, send));
  return latenciesMs;
}

async function acknowledge(pool: Pool, { headers, body }: SignedCommand): Promise<number> {
  const sentAt = performance.now();
  const answer = await pool.request({ path: '/slack/events', method: 'POST', headers, body });
  await answer.body.dump();
  if (answer.statusCode !== 200) throw new Error(`a command was answered with ${answer.statusCode}`);
  return performance.now() - sentAt;
}
