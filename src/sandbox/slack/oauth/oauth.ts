import type { SlackClock } from '../clock.ts';
import type { Ids } from '../ids.ts';
import { WebApiError } from '../refusal.ts';

/** The app's part of an OAuth install, from its pages "Basic Information" and "OAuth & Permissions". */
export interface OAuthApp {
  readonly clientId: string;
  readonly clientSecret: string;
  /** A redirect address has to begin with one of these. */
  redirectUrls: readonly string[];
  /** Those of the manifest: others can't be asked for. */
  readonly scopes: readonly string[];
  /** Tokens expire after twelve hours, and a refresh token brings the next ones. */
  rotatesTokens: boolean;
}

/** What a user allowed: the app, in a workspace or in a whole organization. */
export interface Approval {
  /** A team, or an enterprise. */
  readonly place: string;
  readonly isOrg: boolean;
  readonly userId: string;
  readonly scopes: readonly string[];
  readonly redirectUri: string;
}

/** A bot token that was issued. */
export interface IssuedToken extends Omit<Approval, 'redirectUri'> {
  readonly token: string;
  readonly refreshToken: string | undefined;
  readonly expiresAt: number | undefined;
  /** How long it works from when it was issued; undefined: for good. */
  readonly lifetimeSeconds: number | undefined;
  /** Why it works no longer, as Slack calls it. */
  revoked: 'token_revoked' | 'account_inactive' | undefined;
}

const CODE_LIFETIME_MS = 10 * 60_000;
const TOKEN_LIFETIME_SECONDS = 43_200;
/** With token rotation, no more than this many tokens of an installation work at the same time. */
const MOST_ACTIVE = 2;

/** Codes and tokens, as Slack hands them out (Slack's "Installing with OAuth" and "Using token rotation" pages). */
export class OAuth {
  app: OAuthApp | undefined;
  readonly #clock: SlackClock;
  readonly #ids: Ids;
  readonly #codes = new Map<string, Approval & { readonly expiresAt: number; isUsed: boolean }>();
  readonly #tokens = new Map<string, IssuedToken>();
  readonly #usedRefreshTokens = new Set<string>();
  /** Called with every secret that is made, so that no record shows it. */
  readonly #hide: (secret: string) => void;

  constructor(clock: SlackClock, ids: Ids, hide: (secret: string) => void) {
    this.#clock = clock;
    this.#ids = ids;
    this.#hide = hide;
  }

  /** The user pressed Allow: gives the code that the app exchanges for a token. */
  approve(approval: Approval): string {
    const code = `${this.#ids.secret()}.${this.#ids.secret()}`;
    this.#codes.set(code, { ...approval, expiresAt: this.#clock.now() + CODE_LIFETIME_MS, isUsed: false });
    this.#hide(code);
    return code;
  }

  /** @throws WebApiError invalid_code, code_already_used, code_expired, bad_redirect_uri */
  exchange(code: string, redirectUri: string): IssuedToken {
    const approval = this.#codes.get(code);
    if (!approval) throw new WebApiError('invalid_code');
    if (approval.isUsed) throw new WebApiError('code_already_used');
    if (this.#clock.now() > approval.expiresAt) throw new WebApiError('code_expired');
    if (approval.redirectUri !== redirectUri) throw new WebApiError('bad_redirect_uri');
    approval.isUsed = true;
    return this.#issue(approval);
  }

  /** @throws WebApiError invalid_refresh_token, also for one that was used before */
  refresh(refreshToken: string): IssuedToken {
    const was = [...this.#tokens.values()].find((each) => each.refreshToken === refreshToken);
    if (!was || was.revoked || this.#usedRefreshTokens.has(refreshToken))
      throw new WebApiError('invalid_refresh_token');
    this.#usedRefreshTokens.add(refreshToken);
    return this.#issue(was);
  }

  find(token: string): IssuedToken | undefined {
    return this.#tokens.get(token);
  }

  /** @throws WebApiError token_revoked, account_inactive, token_expired */
  requireWorking({ revoked, expiresAt }: IssuedToken): void {
    const isExpired = expiresAt !== undefined && this.#clock.now() >= expiresAt;
    if (revoked) throw new WebApiError(revoked);
    if (isExpired) throw new WebApiError('token_expired');
  }

  /** The tokens of a workspace or an organization that work, oldest first. */
  listActive(place: string): readonly IssuedToken[] {
    return [...this.#tokens.values()].filter((each) => each.place === place && !each.revoked);
  }

  /** Revokes all tokens of a workspace or an organization; false if there was none. */
  revokeAll(place: string, why: NonNullable<IssuedToken['revoked']>): boolean {
    const active = this.listActive(place);
    for (const each of active) each.revoked = why;
    return active.length > 0;
  }

  /** Without token rotation, a workspace that installs the app again gets its token back, with the scopes of both. */
  #issue({ place, isOrg, userId, scopes }: Omit<Approval, 'redirectUri'>): IssuedToken {
    const rotates = this.app?.rotatesTokens ?? false;
    const lifetimeSeconds = rotates ? TOKEN_LIFETIME_SECONDS : undefined;
    const [known] = this.listActive(place);
    const same = known && known.expiresAt === undefined && !rotates ? known : undefined;
    const issued: IssuedToken = {
      place,
      isOrg,
      userId,
      scopes: [...new Set([...(known?.scopes ?? []), ...scopes])],
      token: same?.token ?? `${rotates ? 'xoxe.' : ''}xoxb-${this.#ids.secret()}`,
      refreshToken: rotates ? `xoxe-1-${this.#ids.secret()}` : undefined,
      expiresAt: lifetimeSeconds && this.#clock.now() + lifetimeSeconds * 1000,
      lifetimeSeconds,
      revoked: undefined,
    };
    this.#tokens.set(issued.token, issued);
    for (const secret of [issued.token, issued.refreshToken]) if (secret) this.#hide(secret);
    if (rotates)
      for (const old of this.listActive(place).slice(0, -MOST_ACTIVE)) old.revoked = 'token_revoked';
    return issued;
  }
}
