import Bottleneck from 'bottleneck';
import type { System } from '../system.ts';
import { RedisClient } from './redis-client.ts';
import { RedisHealth } from './redis-health.ts';
import { RedisQueue } from './redis-queue.ts';
import type { SharedQueues } from './shared-queue.ts';

export interface RedisOptions {
  /** `redis://` or `rediss://`, with the user and the password if Redis wants them. */
  readonly url: string;
  readonly system: System;
  readonly log: Record<
    'info' | 'warn',
    (words: string, fields?: { readonly cause?: string | undefined }) => void
  >;
}

/** The queues of all accounts, over one connection to Redis (docs/design.md 6). */
export interface Redis extends SharedQueues {
  /** Connects, for as long as it takes. */
  start(): void;
  /** What is wrong, in a sentence for the operator, while the app works without Redis. */
  warnings(): readonly string[];
  /** Ends the connection at once. */
  close(): void;
}

const WARNING =
  'Redis can’t be used: the app continues without it, and shares the rate limit over the database alone';

/** Prepares the queues; while Redis can't be used, calls don't wait in them. */
export function openRedis({ url, system, log }: RedisOptions): Redis {
  const closing = new AbortController();
  const client = RedisClient.to(url);
  const connection = new Bottleneck.IORedisConnection({ client });
  const open = new Set<RedisQueue>();
  const held = new Set<() => void>();
  const health = new RedisHealth({
    system,
    probe: () => client.probe(),
    closing: closing.signal,
    onChange: (isUp, cause) => {
      if (isUp) client.repeatRefused();
      if (isUp) return log.info('Redis is back: the processes share the rate limit through it again');
      log.warn(WARNING, { cause });
      for (const queue of open) queue.suspend();
    },
  });
  const of: Redis['of'] = (name, limits) => {
    const queue = new RedisQueue({
      ...limits,
      name,
      connection,
      held,
      isUp: () => health.isUp,
      onFailure: (error) => health.fail(error),
      onClose: (closed) => open.delete(closed),
    });
    open.add(queue);
    return queue;
  };
  const close = () => {
    closing.abort();
    for (const queue of open) queue.close();
    void connection.disconnect(false);
    // Bottleneck has a timer for each call. Without a connection, Redis doesn't learn of their end: the service still counts them.
    for (const end of held) end();
    held.clear();
  };
  return { of, start: () => void health.watch(), warnings: () => (health.isDown ? [WARNING] : []), close };
}
