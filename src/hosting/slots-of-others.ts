import type { ApiCalls } from '../app/hosting-api.ts';
import type { System } from '../system.ts';
import { sleepUnless } from './sleep.ts';

export interface SlotsOfOthersOptions {
  readonly calls: ApiCalls;
  readonly account: string;
  readonly system: System;
  /** The longest that a process can hold a slot. */
  readonly maxHoldMs: number;
  readonly closing: AbortSignal;
  readonly isOwn: (id: string) => boolean;
}

/** A slot that another process holds. */
interface Followed {
  /** When it is removed, on the monotonic clock: no call can hold it for longer. */
  readonly until: number;
  readonly end: () => void;
}

/** How often to check whether other processes have given their slots back. */
export const LOOK_MS = 2_000;

/**
 * The slots of an account that other processes hold. Those that a process left behind when it died are removed, once they
 * were seen for as long as any call can hold them.
 */
export class SlotsOfOthers {
  readonly #options: SlotsOfOthersOptions;
  readonly #followed = new Map<string, Followed>();
  #isFollowing = false;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(options: SlotsOfOthersOptions) {
    this.#options = options;
  }

  /** Finds those that are taken now; each entry resolves when that slot is free again. @throws what the store throws */
  async adopt(): Promise<readonly Promise<void>[]> {
    return this.#follow(await this.#list());
  }

  /** How many slots are taken, our own included. @throws what the store throws */
  async look(): Promise<number> {
    const taken = await this.#list();
    this.#follow(taken);
    return taken.length;
  }

  /** Looks, unless it has done so a moment ago. @throws what the store throws */
  async lookNowAndThen(): Promise<void> {
    if (this.#options.system.elapsed() - this.#lookedAt >= LOOK_MS) await this.look();
  }

  #list(): Promise<readonly string[]> {
    const { calls, account, system } = this.#options;
    this.#lookedAt = system.elapsed();
    return calls.listTaken(account);
  }

  #follow(taken: readonly string[]): Promise<void>[] {
    const { isOwn, system, maxHoldMs } = this.#options;
    const until = system.elapsed() + maxHoldMs;
    const others = taken.filter((id) => !isOwn(id) && !this.#followed.has(id));
    const freed = others.map((id) => new Promise<void>((end) => this.#followed.set(id, { until, end })));
    void this.#followAll();
    return freed;
  }

  async #followAll(): Promise<void> {
    const { calls, account, system, closing } = this.#options;
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    while (this.#followed.size > 0) {
      const first = Math.min(...[...this.#followed.values()].map(({ until }) => until));
      if (!(await sleepUnless(closing, Math.min(LOOK_MS, first - system.elapsed()), system))) break;
      const taken = await calls.listTaken(account).catch(() => [...this.#followed.keys()]);
      this.#end([...this.#followed.keys()].filter((id) => !taken.includes(id)));
      await this.#removeDead();
    }
    this.#end([...this.#followed.keys()]);
    this.#isFollowing = false;
  }

  async #removeDead(): Promise<void> {
    const { calls, system } = this.#options;
    const now = system.elapsed();
    const dead = [...this.#followed].filter(([, { until }]) => until <= now).map(([id]) => id);
    if (dead.length === 0) return;
    // What can't be removed now is found again by the next look.
    await calls.release(dead).catch(() => {});
    this.#end(dead);
  }

  #end(ids: readonly string[]): void {
    for (const id of ids) {
      this.#followed.get(id)?.end();
      this.#followed.delete(id);
    }
  }
}
