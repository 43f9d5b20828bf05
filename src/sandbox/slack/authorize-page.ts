import type { IncomingMessage, ServerResponse } from 'node:http';
import { escapeHtml, isSameOrigin, readBody, sendText } from './http.ts';
import { listPlaces, type OAuthApp, worldsOf } from './oauth.ts';
import type { World } from './world.ts';

/** What the app sends the browser with. */
interface AuthorizeRequest {
  readonly redirectUri: string;
  readonly state: string;
  readonly scopes: readonly string[];
}

/** Slack's page on which a user allows the app, or does not (`/oauth/v2/authorize`). */
export async function answerAuthorize(
  worlds: readonly World[],
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  query: URLSearchParams,
): Promise<void> {
  const request = readRequest(worlds, query);
  if (typeof request === 'string') return sendText(outgoing, 400, request);
  if (incoming.method !== 'POST') return showPage(worlds, outgoing, query, request);
  if (!isSameOrigin(incoming)) return sendText(outgoing, 403, 'this form belongs to another page');
  const form = new URLSearchParams(await readBody(incoming));
  const back = new URL(request.redirectUri);
  const answer = decide(worlds, form, request);
  if (answer === undefined) return sendText(outgoing, 400, 'no user of this workspace can install the app');
  for (const [name, value] of Object.entries(answer)) back.searchParams.set(name, value);
  if (request.state !== '') back.searchParams.set('state', request.state);
  outgoing.writeHead(302, { location: back.toString() }).end();
}

/** What is asked for, or what Slack says of an app that asks for something else. */
function readRequest(worlds: readonly World[], query: URLSearchParams): AuthorizeRequest | string {
  const [first] = worlds;
  const app: OAuthApp | undefined = first?.oauth.app;
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
function decide(worlds: readonly World[], form: URLSearchParams, request: AuthorizeRequest) {
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

function showPage(
  worlds: readonly World[],
  outgoing: ServerResponse,
  query: URLSearchParams,
  { scopes }: AuthorizeRequest,
): void {
  const people = worlds.flatMap(({ roster, team }) =>
    roster
      .people()
      .filter(({ isBot, isRestricted, isExternal, isDeactivated }) =>
        [isBot, isRestricted, isExternal, isDeactivated].every((is) => !is),
      )
      .map(({ id, realName }) => option(id, `${realName} (${team.name})`)),
  );
  const places = listPlaces(worlds).map(({ id, name, isOrg }) =>
    option(id, isOrg ? `${name} (whole organization)` : name),
  );
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Install vps</title></head>
<body><main><h1>vps is requesting permission</h1><p>It asks for: ${scopes.map(escapeHtml).join(', ')}</p>
<form method="post" action="/oauth/v2/authorize?${escapeHtml(query.toString())}">
<p><label>Workspace <select name="place">${places.join('')}</select></label></p>
<p><label>You <select name="user">${people.join('')}</select></label></p>
<p><button name="decision" value="deny">Cancel</button> <button name="decision" value="allow">Allow</button></p>
</form></main></body></html>`;
  outgoing.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html);
}

const option = (value: string, words: string) =>
  `<option value="${escapeHtml(value)}">${escapeHtml(words)}</option>`;
