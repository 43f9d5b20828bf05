import type { SlackClock } from './world.ts';

/** Switches that make the local Slack fail, for tests. */
export class Faults {
  readonly #failures = new Map<string, { left: number; readonly code: string }>();
  readonly #refusedBlocks = new Set<string>();
  readonly #delays = new Map<string, number>();
  readonly #rateLimits = new Map<string, { left: number; readonly retryAfterSeconds: number }>();
  readonly #lostAnswers = new Map<string, { left: number }>();
  readonly #repeatedEvents = { left: 0 };
  #replyUrl: { readonly status: number; left: number; spared: number } | undefined;
  /** The `response_action` in an ack is applied with this delay, in real milliseconds: Slack was seen to take up to a second. */
  lateAcksMs = 0;
  /** `chat.postEphemeral` says ok, and no one sees the message: its user is not looking. */
  losesEphemerals = false;
  /** The tokens of workflow runs no longer work, although their runs go on: nothing says how long they live. */
  endsRunTokens = false;
  /** Only a run's own token ends it: nothing says that the app's token does. */
  refusesBotTokens = false;
  /** What the answer to a post to a response_url says once the post was taken: Slack documents no body, so it may be empty. */
  replyAnswer = 'ok';

  /** The next calls of this Web API method answer with this error. */
  failMethod(method: string, code: string, times = Number.POSITIVE_INFINITY): void {
    this.#failures.set(method, { code, left: times });
  }

  /** The next calls of this Web API method are carried out, and the connection ends without an answer. */
  loseAnswers(method: string, times = 1): void {
    this.#lostAnswers.set(method, { left: times });
  }

  /** Messages and views with such a block get invalid_blocks, wherever they are sent. */
  refuseBlock(type: string): void {
    this.#refusedBlocks.add(type);
  }

  /** The next calls of the method (`*`: of any) get 429 with Retry-After. */
  rateLimit(method: string, { times = 1, retryAfterSeconds = 1 } = {}): void {
    this.#rateLimits.set(method, { left: times, retryAfterSeconds });
  }

  /** Every call of the method (`*`: of any) is answered with this delay, in real milliseconds. */
  slowDown(method: string, delayMs: number): void {
    this.#delays.set(method, delayMs);
  }

  /** The next posts to a response_url are answered with this status, after so many that work. */
  breakReplyUrls(status = 500, times = Number.POSITIVE_INFINITY, spared = 0): void {
    this.#replyUrl = { status, left: times, spared };
  }

  /** The next events come again although they were acknowledged: Slack's network lost the answer. */
  repeatEvents(times = 1): void {
    this.#repeatedEvents.left = times;
  }

  clear(): void {
    for (const switches of [this.#failures, this.#refusedBlocks, this.#delays, this.#rateLimits])
      switches.clear();
    this.#lostAnswers.clear();
    this.#replyUrl = undefined;
    this.replyAnswer = 'ok';
    this.lateAcksMs = 0;
    this.#repeatedEvents.left = 0;
    this.losesEphemerals = false;
    this.endsRunTokens = false;
    this.refusesBotTokens = false;
  }

  takeLostAnswer(method: string): boolean {
    return takeOne(this.#lostAnswers.get(method)) !== undefined;
  }

  takeFailure(method: string): string | undefined {
    return takeOne(this.#failures.get(method))?.code;
  }

  /** Seconds of Retry-After; undefined: not limited. */
  takeRateLimit(method: string): number | undefined {
    const limit = takeOne(this.#rateLimits.get(method)) ?? takeOne(this.#rateLimits.get('*'));
    return limit?.retryAfterSeconds;
  }

  takeReplyUrlStatus(): number | undefined {
    if (this.#replyUrl && this.#replyUrl.spared-- > 0) return undefined;
    return takeOne(this.#replyUrl)?.status;
  }

  takeRepeatedEvent(): boolean {
    return takeOne(this.#repeatedEvents) !== undefined;
  }

  delayMs(method: string): number {
    return this.#delays.get(method) ?? this.#delays.get('*') ?? 0;
  }

  isRefused(blockType: string): boolean {
    return this.#refusedBlocks.has(blockType);
  }
}

function takeOne<T extends { left: number }>(counted: T | undefined): T | undefined {
  if (!counted || counted.left <= 0) return undefined;
  counted.left -= 1;
  return counted;
}

const MINUTE_MS = 60_000;
const SECOND_MS = 1000;

/** Calls a minute that Slack's tiers promise; more may pass, but apps can't count on it (Slack's "Rate limits" page). */
const TIERS = { 1: 1, 2: 20, 3: 50, 4: 100 } as const;

/** The tier of each method, from its page; those that are left out are not limited. */
const TIER_OF: Readonly<Record<string, keyof typeof TIERS>> = {
  'chat.postEphemeral': 4,
  'chat.update': 3,
  'conversations.info': 3,
  'conversations.members': 4,
  'usergroups.list': 2,
  'users.info': 4,
  'users.list': 2,
  'views.open': 4,
  'views.publish': 4,
  'views.update': 4,
};

/** Counts the app's calls: each method by its tier in any minute, and one message a second in each channel. Off: all are taken. */
export function createRateLimits(clock: SlackClock, isOn: boolean) {
  const taken = new Map<string, number[]>();
  const takeWithin = (key: string, most: number, windowMs: number): number | undefined => {
    const now = clock.now();
    const recent = (taken.get(key) ?? []).filter((at) => now - at < windowMs);
    taken.set(key, recent);
    const [oldest] = recent;
    if (recent.length >= most && oldest !== undefined)
      return Math.max(1, Math.ceil((oldest + windowMs - now) / 1000));
    recent.push(now);
    return undefined;
  };
  return {
    /** Seconds of `Retry-After`; undefined when the call is taken, which counts it. */
    take(method: string, channel: string): number | undefined {
      if (!isOn) return undefined;
      if (method === 'chat.postMessage') return takeWithin(`message ${channel}`, 1, SECOND_MS);
      const tier = TIER_OF[method];
      return tier && takeWithin(method, TIERS[tier], MINUTE_MS);
    },
  };
}
