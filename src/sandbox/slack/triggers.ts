import type { SlackClock } from './clock.ts';
import type { Ids } from './ids.ts';
import { WebApiError } from './refusal.ts';

/** A trigger is valid for this long (Slack's "Trigger IDs" section of the modals page). */
const LIFETIME_MS = 3000;

/** Trigger ids: each opens one view, within 3 s. */
export class Triggers {
  readonly #clock: SlackClock;
  readonly #ids: Ids;
  readonly #triggers = new Map<string, { user: string; madeAt: number; used: boolean }>();

  constructor(clock: SlackClock, ids: Ids) {
    this.#clock = clock;
    this.#ids = ids;
  }

  create(user: string): string {
    const id = `${this.#clock.now()}.${this.#triggers.size + 1}.${this.#ids.secret()}`;
    this.#triggers.set(id, { user, madeAt: this.#clock.now(), used: false });
    return id;
  }

  /**
   * Uses up a trigger and returns whose it is.
   * @throws WebApiError invalid_trigger_id, exchanged_trigger_id, expired_trigger_id
   */
  use(id: string): string {
    const trigger = this.#triggers.get(id);
    if (!trigger) throw new WebApiError('invalid_trigger_id');
    if (trigger.used) throw new WebApiError('exchanged_trigger_id');
    if (this.#clock.now() - trigger.madeAt > LIFETIME_MS) throw new WebApiError('expired_trigger_id');
    trigger.used = true;
    return trigger.user;
  }
}
