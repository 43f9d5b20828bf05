import { createHash } from 'node:crypto';
import Bottleneck from 'bottleneck';
import type { SlotLimits } from '../app/hosting-api.ts';
import { type Admission, type SharedQueue, UNQUEUED } from './shared-queue.ts';

export interface RedisQueueOptions extends SlotLimits {
  readonly name: string;
  readonly connection: Bottleneck.IORedisConnection;
  /** Whether Redis can be used at the moment. */
  readonly isUp: () => boolean;
  /** Called when Redis refuses what the queue needs. */
  readonly onFailure: (error: unknown) => void;
  /** Ends each call that is admitted. */
  readonly held: Set<() => void>;
  readonly onClose: (queue: RedisQueue) => void;
}

/** Redis drops the data of accounts that haven't been used for this long. */
const KEEP_MS = 15 * 60_000;

/** Bottleneck's own limiter over Redis: of the processes in which calls wait, the one that holds the fewest slots is next. */
export class RedisQueue implements SharedQueue {
  readonly #options: RedisQueueOptions;
  /** Lets a waiting call go on without the queue; first come, first served. */
  readonly #waiting = new Set<() => void>();
  #admitted = 0;
  #limiter: Bottleneck | undefined;
  #isClosed = false;

  constructor(options: RedisQueueOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  get admitted(): number {
    return this.#admitted;
  }

  wait(priority: number, gaveUp: AbortSignal): Promise<Admission> {
    const { isUp, maxHoldMs: expiration } = this.#options;
    if (this.#isClosed || !isUp() || gaveUp.aborted) return Promise.resolve(UNQUEUED);
    return new Promise((resolve) => {
      const goOn = () => {
        if (this.#waiting.delete(goOn)) resolve(UNQUEUED);
      };
      this.#waiting.add(goOn);
      gaveUp.addEventListener('abort', goOn, { once: true });
      const hold = async () => {
        // The call has gone on without the queue, or has given up: its place is for the next one.
        if (!this.#waiting.delete(goOn)) return;
        this.#admitted++;
        await this.#hold(resolve);
      };
      this.#limiter ??= this.#open();
      this.#limiter.schedule({ priority, expiration }, hold).catch((error: unknown) => {
        if (this.#waiting.has(goOn)) this.#fail(error);
      });
    });
  }

  letThrough(count: number): void {
    for (const goOn of [...this.#waiting].slice(0, count)) goOn();
  }

  close(): void {
    this.#isClosed = true;
    this.suspend();
    this.#options.onClose(this);
  }

  /**
   * Lets all calls through, and starts over with the next one: Bottleneck would go on talking to a Redis that is gone, and
   * ioredis keeps what it says until Redis is back. Places that are held become free in Redis as they would have.
   */
  suspend(): void {
    this.letThrough(this.#waiting.size);
    const limiter = this.#limiter;
    this.#limiter = undefined;
    if (!limiter) return;
    // Its promise waits for calls that were admitted.
    limiter.stop({ dropWaitingJobs: true }).catch(() => {});
    limiter.ready().then(
      () => limiter.disconnect(),
      () => {},
    );
  }

  async #hold(admit: (admission: Admission) => void): Promise<void> {
    const { held } = this.#options;
    await new Promise<void>((end) => {
      held.add(end);
      admit({
        end: () => {
          held.delete(end);
          end();
        },
      });
    });
  }

  #open(): Bottleneck {
    const { name, limit, connection } = this.#options;
    const limiter = new Bottleneck({
      id: keyOf(name, limit),
      maxConcurrent: limit,
      timeout: KEEP_MS,
      connection,
    });
    limiter.on('error', () => {});
    // Also the caller's failure; here it must only not end the process.
    limiter.ready().catch(() => {});
    return limiter;
  }

  /** A limiter that failed once may never recover, so the next call gets a new one. */
  #fail(error: unknown): void {
    this.suspend();
    this.#options.onFailure(error);
  }
}

/** What Bottleneck's keys in Redis are made of. It reveals neither the workspace nor anything of the API key. */
function keyOf(name: string, limit: number): string {
  const hash = createHash('sha256').update(`${limit} ${name}`).digest('hex').slice(0, 24);
  return `vps-slack-${hash}`;
}
