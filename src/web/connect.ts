import type { IncomingMessage, ServerResponse } from 'node:http';
import { connectByLink, type FoundLink } from '../account/connect.ts';
import { keyFailureWords, readKey, WRONG_KEYS } from '../account/keys.ts';
import type { Entry } from '../core/entry.ts';
import { HostingError, isExpected, isRefusal, Refusal } from '../core/errors.ts';
import { answerPage, escapeHtml, htmlOfWords, readForm } from './page.ts';

export interface ConnectParts {
  readonly entry: Entry;
  readonly findConnectLink: (token: string) => Promise<FoundLink | undefined>;
  /** Puts an error into words, in mrkdwn. */
  readonly explain: (error: unknown) => string;
  /** The app's address for browsers (`PUBLIC_URL`): a proxy may reach it by another host. */
  readonly publicUrl?: string | undefined;
  /** The hosting account's page (`HOSTING_ACCOUNT_URL`), where keys are made. */
  readonly accountUrl?: string | undefined;
}

/**
 * Serves the one-time form that takes the hosting API key (Slack asks apps not to prompt for secrets in modals: "Don't prompt for
 * login information"). Opening the page doesn't use the link up, since mail scanners and previews open it, too. Money effect: none;
 * a posted key is tested with one read (docs/hosting-api.md 5.5).
 */
export async function serveConnect(
  request: IncomingMessage,
  response: ServerResponse,
  token: string,
  parts: ConnectParts,
): Promise<void> {
  const { entry, findConnectLink, explain, publicUrl = '', accountUrl } = parts;
  const link = await findConnectLink(token);
  const refuse = () => {
    const words = explain(new Refusal('link_unusable', {}));
    answerPage(response, 410, 'This link doesn’t work', `<p>${htmlOfWords(words)}</p>`);
  };
  if (!link) return refuse();
  const show = (status: number, wrong?: string) => showForm(response, status, link, accountUrl, wrong);
  if (request.method === 'GET' || request.method === 'HEAD') return show(200);
  if (request.method !== 'POST')
    return answerPage(
      response,
      405,
      'This page only accepts form submissions',
      '<p>Nothing was changed.</p>',
    );
  if (isFromElsewhere(request, publicUrl)) {
    const words =
      '<p>For your security, the key wasn’t accepted. Open the link in Slack and enter the key there.</p>';
    return answerPage(response, 403, 'This form was sent from another site', words);
  }
  const form = await readForm(request);
  const pasted = form === 'too_long' ? { wrong: form } : readKey(form?.get('api_key') ?? '');
  if ('wrong' in pasted) return show(422, WRONG_KEYS[pasted.wrong]);
  try {
    const input = { tokenHash: link.tokenHash, key: pasted.key };
    const { servers } = await entry.execute(connectByLink, input, link.caller);
    showConnected(response, servers, link);
  } catch (error) {
    if (isRefusal(error, 'link_unusable')) return refuse();
    const words =
      error instanceof HostingError
        ? `${keyFailureWords(error.code)} The key wasn’t stored.`
        : explain(error);
    show(isExpected(error) ? 422 : 500, words);
  }
}

/**
 * Whether a form was posted from another site. Browsers name the site, older ones only by `Origin`; a request that names none isn't
 * from a browser, and has nobody's cookies.
 */
function isFromElsewhere({ headers }: IncomingMessage, publicUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (typeof site === 'string') return site !== 'same-origin' && site !== 'none';
  const { origin } = headers;
  if (origin === undefined) return false;
  const host = hostOf(origin);
  return host === '' || (host !== headers.host && host !== hostOf(publicUrl));
}

/** Returns the host of an origin; '' if a page hides its origin (`null`). */
function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : '';
}

function showForm(
  response: ServerResponse,
  status: number,
  link: FoundLink,
  accountUrl: string | undefined,
  wrong?: string,
): void {
  const keysPage =
    accountUrl === undefined
      ? 'your hosting account’s API keys page'
      : `<a href="${escapeHtml(accountUrl)}" target="_blank" rel="noreferrer">your hosting account’s page</a>`;
  const notice =
    wrong === undefined ? '' : `<p class="wrong" role="alert" id="problem">${htmlOfWords(wrong)}</p>`;
  const described = wrong === undefined ? 'help' : 'problem help';
  const replaced = link.isReplacing
    ? '<p>An account is already connected. A key you enter here replaces the current one.</p>'
    : '';
  const form = `<p>${workspaceWords('You’re connecting it to', link)} Its members can then manage servers from Slack, each within their role.</p>${replaced}
${notice}<form method="post" autocomplete="off">
<label for="api_key">API key</label>
<input id="api_key" name="api_key" type="password" required autofocus spellcheck="false" autocomplete="off" aria-describedby="${described}"${wrong === undefined ? '' : ' aria-invalid="true"'}>
<button type="submit">Connect</button></form>
<p class="small" id="help">Create a key on ${keysPage} (available after your first top-up). We’ll test it with one read-only request and store it encrypted.</p>
<p class="small">This page is just for the person who ran <code>/vps connect</code>. Don’t share its link.</p>`;
  const title = 'Connect your hosting account';
  answerPage(response, status, title, form, wrong === undefined ? title : `Error: ${title}`);
}

function showConnected(response: ServerResponse, servers: number | undefined, link: FoundLink): void {
  const count = servers === 0 ? 'no servers yet' : servers === 1 ? '1 server' : `${servers} servers`;
  const has = servers === undefined ? '' : ` The account has ${count}.`;
  const found = `Your key works and is stored encrypted.${has}`;
  const next =
    servers === 0
      ? 'create your first server with <code>/vps create</code>'
      : 'see your servers with <code>/vps list</code>';
  const body = `<p>${workspaceWords('It’s connected to', link)} ${found}</p><p>You can close this page and go back to Slack: ${next}.</p>`;
  answerPage(response, 200, 'Your hosting account is connected', body);
}

/** Ends a sentence with the workspace, as HTML: "You’re connecting it to the Slack workspace <b>Acme</b>." */
function workspaceWords(lead: string, { workspaceName }: FoundLink): string {
  return workspaceName === ''
    ? `${lead} your Slack workspace.`
    : `${lead} the Slack workspace <b>${escapeHtml(workspaceName)}</b>.`;
}
