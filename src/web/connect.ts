import type { IncomingMessage, ServerResponse } from 'node:http';
import { findKey } from '../app/account/connect-key.ts';
import { connectByLink, type FoundLink } from '../app/account/connect-link.ts';
import type { AccountPorts } from '../app/account/ports.ts';
import type { Entry } from '../app/authorize/entry.ts';
import { isExpected } from '../domain/errors.ts';
import { readForm } from './answer.ts';
import { answerPage, htmlOfWords } from './page.ts';

/** Puts an error's code into words, written as for Slack. */
export type Explain = (error: unknown) => string;

/** What the page works with. */
export interface ConnectParts {
  readonly entry: Pick<Entry<AccountPorts>, 'execute'>;
  readonly findConnectLink: (token: string) => Promise<FoundLink>;
  readonly explain: Explain;
  /** Where browsers find the app: a proxy in front may call it by another host. */
  readonly publicUrl?: string | undefined;
}

/**
 * The one-time form that takes the hosting API key (Slack asks apps not to prompt for secrets in modals:
 * "Don't prompt for login information"). Looking at it does not use the link up: mail scanners and previews look, too.
 */
export async function serveConnect(
  request: IncomingMessage,
  response: ServerResponse,
  token: string,
  { entry, findConnectLink, explain, publicUrl = '' }: ConnectParts,
): Promise<void> {
  const link = await findConnectLink(token);
  if (link.kind === 'unusable') return refuse(response, link.reason);
  if (request.method === 'GET' || request.method === 'HEAD') return showForm(response, 200);
  if (request.method !== 'POST')
    return answerPage(response, 405, 'Not possible', '<p>This page takes a form.</p>');
  if (isFromElsewhere(request, publicUrl)) {
    return answerPage(response, 403, 'Not possible', '<p>This form was posted from another page.</p>');
  }
  const key = findKey((await readForm(request))?.get('api_key') ?? '');
  if (!key)
    return showForm(response, 422, 'That can’t be an API key: it is one line of letters, digits and signs.');
  try {
    await entry.execute(connectByLink, { tokenHash: link.tokenHash, key }, link.caller);
  } catch (error) {
    const status = isExpected(error) ? 422 : 500;
    if (isExpected(error) && error.code === 'link_unusable') return refuse(response, 'used');
    return showForm(response, status, explain(error));
  }
  answerPage(
    response,
    200,
    'Connected',
    '<p>The API key works and is kept, encrypted. You can close this page and go back to Slack: <b>/vps list</b> shows the servers.</p>',
  );
}

/**
 * Browsers say where a form was posted from, older ones by `Origin` alone; a tool that says nothing has no one's cookies
 * either.
 */
function isFromElsewhere({ headers }: IncomingMessage, publicUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (typeof site === 'string') return site !== 'same-origin' && site !== 'none';
  const { origin } = headers;
  if (origin === undefined) return false;
  const host = hostOf(origin);
  return host === '' || (host !== headers.host && host !== hostOf(publicUrl));
}

/** A page may hide its origin (`null`). */
function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : '';
}

function showForm(response: ServerResponse, status: number, wrong?: string): void {
  const notice = wrong === undefined ? '' : `<p class="wrong" role="alert">${htmlOfWords(wrong)}</p>`;
  const form = `${notice}<form method="post" autocomplete="off">
<label for="api_key">API key</label>
<input id="api_key" name="api_key" type="password" required autofocus maxlength="512" spellcheck="false" autocomplete="off">
<button type="submit">Connect</button></form>
<p class="small">It is made on the hosting account’s API key page, which opens after the first top-up. The app tries it with one harmless request, keeps it encrypted, and never shows it again.</p>`;
  answerPage(response, status, 'Connect the hosting account', form);
}

function refuse(response: ServerResponse, reason: 'used' | 'expired' | 'unknown'): void {
  const words = {
    used: 'This link has been used. It works once.',
    expired: 'This link is too old. It works for ten minutes.',
    unknown: 'There is no such link.',
  }[reason];
  answerPage(
    response,
    reason === 'unknown' ? 404 : 410,
    'This link can’t be used',
    `<p>${words} Type <b>/vps connect</b> in Slack for a new one.</p>`,
  );
}
