import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i;

/** A page request that is not served, in words for the sender. */
export class PageRefusal extends Error {
  override readonly name = 'PageRefusal';
  readonly status: number;

  constructor(status: number, words: string) {
    super(words);
    this.status = status;
  }
}

/**
 * Lets in only requests that use a loopback name (any other is foreign DNS pointed at this machine) and only forms
 * that were posted from this very page.
 * @throws PageRefusal
 */
export function checkSource({ headers, method }: IncomingMessage): void {
  if (!LOOPBACK_HOST.test(headers.host ?? ''))
    throw new PageRefusal(403, 'This page is for this machine only.');
  if (method === 'POST' && !isOwnForm(headers))
    throw new PageRefusal(403, 'This form did not come from the account page.');
}

/** The browser must say so in one header at least, and deny it in none. */
function isOwnForm(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  const { origin, host } = headers;
  if (site === undefined && origin === undefined) return false;
  if (site !== undefined && site !== 'same-origin') return false;
  return origin === undefined || origin === `http://${host}`;
}
