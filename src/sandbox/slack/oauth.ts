import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Delivery } from './deliver.ts';
import { sendEvent } from './events.ts';
import { readBody, sendText } from './http.ts';
import { isJson, textIn } from './json.ts';
import type { Json } from './page-api.ts';
import { WebApiError } from './refusal.ts';
import { APP } from './workspace.ts';
import type { Ids, SlackClock, World, Worlds } from './world.ts';

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
interface Approval {
  /** A team, or an enterprise. */
  readonly place: string;
  readonly isOrg: boolean;
  readonly userId: string;
  readonly scopes: readonly string[];
  readonly redirectUri: string;
}

type Revocation = 'token_revoked' | 'account_inactive';

export interface IssuedToken extends Omit<Approval, 'redirectUri'> {
  readonly token: string;
  readonly refreshToken: string | undefined;
  readonly expiresAt: number | undefined;
  /** How long it works from when it was issued; undefined: for good. */
  readonly lifetimeSeconds: number | undefined;
  /** Why it works no longer, as Slack calls it. */
  revoked: Revocation | undefined;
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
  revokeAll(place: string, why: Revocation): boolean {
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

/** Where a user allows the app, or does not (`/oauth/v2/authorize`): tests post what would be chosen on Slack's page. */
export async function answerAuthorize(
  worlds: Worlds,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  query: URLSearchParams,
): Promise<void> {
  const request = readRequest(worlds, query);
  if (typeof request === 'string') return sendText(outgoing, 400, request);
  if (incoming.method !== 'POST') return sendText(outgoing, 200, `vps asks for ${request.scopes.join(', ')}`);
  const form = new URLSearchParams(await readBody(incoming));
  const back = new URL(request.redirectUri);
  const answer = decide(worlds, form, request);
  if (answer === undefined) return sendText(outgoing, 400, 'no user of this workspace can install the app');
  for (const [name, value] of Object.entries(answer)) back.searchParams.set(name, value);
  if (request.state !== '') back.searchParams.set('state', request.state);
  outgoing.writeHead(302, { location: back.toString() }).end();
}

/** What is asked for, or what Slack says of an app that asks for something else. */
function readRequest(worlds: Worlds, query: URLSearchParams) {
  const [{ oauth }] = worlds;
  const { app } = oauth;
  if (!app || query.get('client_id') !== app.clientId) return 'Something went wrong (invalid_client_id)';
  const redirectUri = query.get('redirect_uri') ?? app.redirectUrls[0] ?? '';
  if (!app.redirectUrls.some((url) => redirectUri.startsWith(url)))
    return 'redirect_uri did not match any configured URIs';
  const scopes = (query.get('scope') ?? '').split(',').filter((scope) => scope !== '');
  if (scopes.length === 0) return 'Invalid permissions requested (no_scopes)';
  const unknown = scopes.filter((scope) => !app.scopes.includes(scope));
  if (unknown.length > 0) return `Invalid permissions requested (${unknown.join(', ')})`;
  return { redirectUri, scopes, state: query.get('state') ?? '' };
}

/** Undefined where no such user could decide. */
function decide(
  worlds: Worlds,
  form: URLSearchParams,
  { scopes, redirectUri }: Exclude<ReturnType<typeof readRequest>, string>,
) {
  if (form.get('decision') !== 'allow') return { error: 'access_denied' };
  const place = form.get('place') ?? '';
  const isOrg = worlds.some(({ grid }) => grid?.id === place);
  const [world] = worldsOf(worlds, { place, isOrg });
  const user = world?.roster.findUser(form.get('user') ?? '');
  if (!world || !user || user.isRestricted || user.isDeactivated || user.isExternal) return undefined;
  return { code: world.oauth.approve({ place, isOrg, userId: user.id, scopes, redirectUri }) };
}

/**
 * `oauth.v2.access`: exchanges a code, or a refresh token, for a bot token.
 * @throws WebApiError invalid_client_id, bad_client_secret, invalid_grant_type, and those of the exchange
 */
export function answerAccess(worlds: Worlds, args: Json, authorization: string): Json {
  const [{ oauth }] = worlds;
  requireClient(oauth.app, args, authorization);
  const grantType = textIn(args, 'grant_type') || 'authorization_code';
  if (grantType === 'refresh_token')
    return describe(worlds, oauth.refresh(textIn(args, 'refresh_token')), false);
  if (grantType !== 'authorization_code') throw new WebApiError('invalid_grant_type');
  return describe(worlds, oauth.exchange(textIn(args, 'code'), textIn(args, 'redirect_uri')), true);
}

/** In the fields, or as HTTP's Basic authorization. */
function requireClient(app: OAuthApp | undefined, args: Json, authorization: string): void {
  const encoded = /^Basic\s+(.+)$/.exec(authorization)?.[1] ?? '';
  const [basicId = '', basicSecret = ''] = Buffer.from(encoded, 'base64').toString().split(':');
  if (!app || (textIn(args, 'client_id') || basicId) !== app.clientId)
    throw new WebApiError('invalid_client_id');
  if ((textIn(args, 'client_secret') || basicSecret) !== app.clientSecret)
    throw new WebApiError('bad_client_secret');
}

function describe(worlds: readonly World[], issued: IssuedToken, isInstall: boolean): Json {
  const served = worldsOf(worlds, issued);
  // Methods look at what their own workspace was granted.
  for (const { app } of served) app.scopes = issued.scopes;
  const [first] = served;
  const grid = first?.grid;
  return {
    app_id: APP.id,
    ...(isInstall ? { authed_user: { id: issued.userId } } : {}),
    scope: issued.scopes.join(','),
    token_type: 'bot',
    access_token: issued.token,
    bot_user_id: APP.botUserId,
    ...(issued.refreshToken === undefined
      ? {}
      : { refresh_token: issued.refreshToken, expires_in: issued.lifetimeSeconds }),
    team: issued.isOrg ? null : { id: issued.place, name: first?.team.name },
    enterprise: isJson(grid) ? { id: grid.id, name: grid.name } : null,
    is_enterprise_install: issued.isOrg,
  };
}

/** The workspaces that a token is for: of an organization, those that its admins have added the app to. */
export function worldsOf(worlds: readonly World[], { place, isOrg }: Pick<IssuedToken, 'place' | 'isOrg'>) {
  return worlds.filter(({ team, grid }) =>
    isOrg ? grid?.id === place && grid.isOrgInstall : team.id === place,
  );
}

/** Removes the app from a workspace, or from its organization: no token of it works from then on. */
export function revokeTokens({ oauth, team, grid }: World, why: Revocation): boolean {
  return oauth.revokeAll(grid?.isOrgInstall ? grid.id : team.id, why);
}

/** Sends the app the events of its removal, in Slack's order; resolves with the last one. */
export async function sendUninstalled(world: World, hadTokens: boolean): Promise<Delivery | undefined> {
  if (hadTokens)
    await sendEvent(world, { type: 'tokens_revoked', tokens: { oauth: [], bot: [APP.botUserId] } });
  return sendEvent(world, { type: 'app_uninstalled' });
}
