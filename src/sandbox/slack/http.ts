import type { IncomingMessage, ServerResponse } from 'node:http';
import { readJson } from './json.ts';
import type { Texts } from './page-api.ts';

/** Bigger bodies are refused; Slack's own limit for a view is 250 kB. */
const MAX_BODY_BYTES = 2_000_000;

export async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming) {
    const part = Buffer.from(chunk as Uint8Array);
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) throw new Error('the body is too big');
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString('utf8');
}

export function sendJson(outgoing: ServerResponse, status: number, body: unknown, headers: Texts = {}): void {
  outgoing.writeHead(status, {
    ...{ 'content-type': 'application/json; charset=utf-8', 'x-content-type-options': 'nosniff' },
    ...{ 'cache-control': 'no-store', ...headers },
  });
  outgoing.end(JSON.stringify(body));
}

export function sendText(outgoing: ServerResponse, status: number, body: string): void {
  outgoing.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
  outgoing.end(body);
}

const LOOPBACK = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;

/** Whether the Host header names this machine: other names may be a page that rebinds its DNS. */
export function isLoopbackHost(incoming: IncomingMessage): boolean {
  return LOOPBACK.test(incoming.headers.host ?? '');
}

/** Whether a post comes from a page of this very server, or from no page at all. */
export function isSameOrigin(incoming: IncomingMessage): boolean {
  const { origin, host } = incoming.headers;
  const site = incoming.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  return origin === undefined || origin === `http://${host}`;
}

/**
 * Answers what a page posts; `perform` gives undefined for an action that it doesn't know. A refusal is for the user to read, and
 * has status 200: browsers would report all else as an error of the page.
 */
export async function answerPost(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  perform: (action: unknown) => Promise<object | undefined>,
): Promise<void> {
  if (!/^application\/json\b/i.test(incoming.headers['content-type'] ?? ''))
    return sendText(outgoing, 415, 'JSON is needed');
  const done = await perform(readJson(await readBody(incoming)));
  const unknown = { ok: false, error: 'invalid_action', words: 'The page sent an unknown action.' };
  return sendJson(outgoing, done ? 200 : 400, done ?? unknown);
}

/** Text anywhere in a page. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
