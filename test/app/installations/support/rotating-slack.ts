import type { RefreshOutcome, TokenService, TokenVerdict } from '../../../../src/app/installations/ports.ts';
import type { BotTokens } from '../../../../src/domain/installation.ts';
import { Secret } from '../../../../src/domain/secret.ts';
import { HOUR_MS } from '../../../../src/domain/time.ts';
import type { System } from '../../../../src/system.ts';

/** What happens to the next refresh. `lost`: Slack carries it out, and its answer never arrives. */
type Fate = 'answered' | 'lost' | 'unsent' | 'refused';

/**
 * A Slack with one installation whose tokens expire. It takes each refresh token once, as the real one does, and can lose
 * its answers.
 */
export class RotatingSlack {
  readonly #system: System;
  readonly #expiresAt = new Map<string, number>();
  readonly #used = new Set<string>();
  readonly #mute = new Set<string>();
  #isUninstalled = false;
  /** Nobody has seen what Slack says of an expired token after an uninstall. */
  saysOfExpired: TokenVerdict = 'expired';
  fate: Fate = 'answered';
  /** The next refresh waits for these before Slack sees it, and before the app sees the answer. */
  #holdUp: { readonly before?: () => Promise<void>; readonly after?: () => Promise<void> } = {};
  tests = 0;
  /** The refresh tokens that were sent, in order. */
  readonly sent: string[] = [];

  constructor(system: System) {
    this.#system = system;
  }

  /** Issues tokens, as an install does. A negative life: they have expired. */
  issue(lifeMs = 12 * HOUR_MS): BotTokens {
    const name = `token ${this.#expiresAt.size + 1}`;
    const expiresAt = this.#system.now() + lifeMs;
    this.#expiresAt.set(name, expiresAt);
    return { bot: new Secret(name), rotation: { expiresAt, refreshToken: new Secret(`refresh of ${name}`) } };
  }

  /** Slack says nothing about the token that was issued last. */
  muteLast(): void {
    const last = [...this.#expiresAt.keys()].at(-1);
    if (last !== undefined) this.#mute.add(last);
  }

  uninstall(): void {
    this.#isUninstalled = true;
  }

  /** No token from before works any more. */
  installAgain(): BotTokens {
    this.#isUninstalled = false;
    for (const name of this.#expiresAt.keys()) this.#used.add(`refresh of ${name}`);
    return this.issue();
  }

  /** Holds the next refresh up, on its way to Slack or on its way back. */
  holdUp(where: 'before' | 'after', wait: () => Promise<void>): void {
    this.#holdUp = { [where]: wait };
  }

  readonly service: TokenService = {
    test: async (token) => {
      this.tests += 1;
      const expiresAt = this.#expiresAt.get(token.reveal());
      if (this.#mute.has(token.reveal())) return 'unknown';
      if (expiresAt === undefined) return 'revoked';
      const isExpired = expiresAt <= this.#system.now();
      if (this.#isUninstalled) return isExpired ? this.saysOfExpired : 'revoked';
      return isExpired ? 'expired' : 'works';
    },
    refresh: async (refreshToken) => {
      const { before, after } = this.#holdUp;
      this.#holdUp = {};
      await before?.();
      const outcome = this.#refresh(refreshToken.reveal());
      await after?.();
      return outcome;
    },
    revoke: async () => undefined,
    listWorkspaces: async () => undefined,
  };

  #refresh(given: string): RefreshOutcome {
    if (this.fate === 'unsent') return { kind: 'unsent', error: 'ECONNREFUSED' };
    this.sent.push(given);
    const isKnown = this.#expiresAt.has(given.replace('refresh of ', ''));
    const isGood = isKnown && !this.#isUninstalled && !this.#used.has(given) && this.fate !== 'refused';
    if (isGood) this.#used.add(given);
    const tokens = isGood ? this.issue() : undefined;
    if (this.fate === 'lost') return { kind: 'unknown', error: 'TimeoutError' };
    return tokens ? { kind: 'renewed', tokens } : { kind: 'refused', error: 'invalid_refresh_token' };
  }
}
