import type { SlackClock } from './clock.ts';

const MINUTE_MS = 60_000;
const SECOND_MS = 1000;

/** Calls a minute that Slack's tiers promise; more may pass, but apps can't count on it (Slack's "Rate limits" page). */
const TIERS = { 1: 1, 2: 20, 3: 50, 4: 100 } as const;

/** The tier of each method, from its page; those that are left out are not limited. */
const TIER_OF: Readonly<Record<string, keyof typeof TIERS>> = {
  'chat.postEphemeral': 4,
  'chat.update': 3,
  'chat.delete': 3,
  'conversations.info': 3,
  'conversations.list': 2,
  'conversations.members': 4,
  'conversations.open': 3,
  'team.info': 3,
  'usergroups.list': 2,
  'usergroups.users.list': 2,
  'users.info': 4,
  'users.list': 2,
  'views.open': 4,
  'views.push': 4,
  'views.publish': 4,
  'views.update': 4,
};

/** Counts the app's calls: each method by its tier in any minute, and one message a second in each channel. */
export class RateLimits {
  readonly #clock: SlackClock;
  readonly #taken = new Map<string, number[]>();
  /** Off: everything is taken. */
  isOn: boolean;

  constructor(clock: SlackClock, isOn: boolean) {
    this.#clock = clock;
    this.isOn = isOn;
  }

  /** Seconds of `Retry-After`; undefined when the call is taken, which counts it. */
  take(method: string, channel: string): number | undefined {
    if (!this.isOn) return undefined;
    if (method === 'chat.postMessage') return this.#takeOne(`message ${channel}`, 1, SECOND_MS);
    const tier = TIER_OF[method];
    return tier && this.#takeOne(method, TIERS[tier], MINUTE_MS);
  }

  #takeOne(key: string, most: number, windowMs: number): number | undefined {
    const now = this.#clock.now();
    const recent = (this.#taken.get(key) ?? []).filter((at) => now - at < windowMs);
    this.#taken.set(key, recent);
    const [oldest] = recent;
    if (recent.length >= most && oldest !== undefined)
      return Math.max(1, Math.ceil((oldest + windowMs - now) / 1000));
    recent.push(now);
    return undefined;
  }
}
