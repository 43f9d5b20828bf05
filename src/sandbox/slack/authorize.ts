import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody, sendText } from './http.ts';
import { listPlaces, worldsOf } from './oauth.ts';
import type { Worlds } from './world.ts';

/** What the app sends the browser with. */
type AuthorizeRequest = Exclude<ReturnType<typeof readRequest>, string>;

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
function decide(worlds: Worlds, form: URLSearchParams, request: AuthorizeRequest) {
  if (form.get('decision') !== 'allow') return { error: 'access_denied' };
  const place = listPlaces(worlds).find(({ id }) => id === form.get('place'));
  const [world] = place ? worldsOf(worlds, { place: place.id, isOrg: place.isOrg }) : [];
  const user = world?.roster.findUser(form.get('user') ?? '');
  if (!place || !world || !user || user.isRestricted || user.isDeactivated || user.isExternal)
    return undefined;
  const { scopes, redirectUri } = request;
  const code = world.oauth.approve({
    place: place.id,
    isOrg: place.isOrg,
    userId: user.id,
    scopes,
    redirectUri,
  });
  return { code };
}
