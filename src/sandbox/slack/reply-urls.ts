import type { SlackClock } from './clock.ts';
import type { Ids } from './ids.ts';
import { WebApiError } from './refusal.ts';
import type { SlackSnapshot } from './snapshot.ts';
import type { Team } from './workspace.ts';

const LIFETIME_MS = 30 * 60_000;
const USES = 5;

/** What a response_url refers to. */
export interface ReplyUrl {
  readonly path: string;
  readonly user: string;
  readonly channel: string;
  /** The message whose element was used; absent for commands. */
  readonly original: { readonly channel: string; readonly ts: string } | undefined;
  readonly madeAt: number;
  uses: number;
}

/** response_urls: 5 uses within 30 minutes each (Slack's "Handling user interaction" page). */
export class ReplyUrls {
  readonly #clock: SlackClock;
  readonly #ids: Ids;
  readonly #team: Team;
  readonly #urls = new Map<string, ReplyUrl>();

  constructor(clock: SlackClock, ids: Ids, team: Team, stored: SlackSnapshot['replyUrls'] = []) {
    this.#clock = clock;
    this.#ids = ids;
    this.#team = team;
    for (const { person, original, ...url } of stored)
      this.#urls.set(url.path, { ...url, user: person, original: original ?? undefined });
  }

  /** Makes one and gives its path. */
  create(
    user: string,
    channel: string,
    original?: { readonly channel: string; readonly ts: string },
  ): string {
    const path = `/reply/${this.#team.id}/${this.#urls.size + 1}/${this.#ids.secret()}`;
    this.#urls.set(path, { path, user, channel, original, madeAt: this.#clock.now(), uses: 0 });
    return path;
  }

  /**
   * Counts one use; a refused post is a use, too.
   * @throws WebApiError no_service, expired_url, used_url
   */
  use(path: string): ReplyUrl {
    const url = this.#urls.get(path);
    if (!url) throw new WebApiError('no_service');
    if (this.#clock.now() - url.madeAt > LIFETIME_MS) throw new WebApiError('expired_url');
    if (url.uses >= USES) throw new WebApiError('used_url');
    url.uses += 1;
    return url;
  }

  /** Those that still work. */
  snapshot(): SlackSnapshot['replyUrls'] {
    return [...this.#urls.values()]
      .filter(({ madeAt, uses }) => this.#clock.now() - madeAt <= LIFETIME_MS && uses < USES)
      .map(({ user, original, ...url }) => ({ ...url, person: user, original: original ?? null }));
  }
}
