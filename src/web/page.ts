import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

const STYLE = `
:root{color-scheme:light dark;background:Canvas;color:CanvasText;font:16px/1.5 system-ui,sans-serif}
body{max-width:32rem;margin:0 auto;padding:8vh 1.25rem 2rem}
header{font-weight:600;color:#17663a}
h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0 1rem}
code{font-family:ui-monospace,monospace;white-space:nowrap}
label{display:block;font-weight:600;margin:1.5rem 0 .35rem}
input{box-sizing:border-box;width:100%;padding:.65rem .75rem;font:inherit;font-family:ui-monospace,monospace;border:1px solid #767676;border-radius:.4rem;background:Field;color:FieldText}
button{margin-top:1rem;padding:.65rem 1.2rem;font:inherit;font-weight:600;color:#fff;background:#17663a;border:0;border-radius:.4rem;cursor:pointer}
:focus-visible{outline:3px solid #4a90d9;outline-offset:2px}
.wrong{padding:.65rem .9rem;border-left:4px solid #c0392b;background:#c0392b1a}
.small{font-size:.9rem}
@media(prefers-color-scheme:dark){:root{background:#16181a;color:#e8e8e8}header{color:#6fcf97}input{border-color:#9a9a9a}.wrong{background:#c0392b33}}
@media(max-width:26rem){body{padding-top:2rem}button{width:100%}}
`;

/** Allows only the app's own style, by its hash: no scripts, no images, nothing from other sites; forms post only to the app. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/**
 * Answers with a page of the app. `body` is HTML, in which the caller has escaped what comes from outside; `title` is text. The
 * browser's tab shows `windowTitle`, and screen readers say it first.
 */
export function answerPage(
  response: ServerResponse,
  status: number,
  title: string,
  body: string,
  windowTitle = title,
): void {
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escapeHtml(windowTitle)} · vps for Slack</title><style>${STYLE}</style></head>
<body><header>vps for Slack</header><main><h1>${escapeHtml(title)}</h1>${body}</main></body></html>
`;
  answer(response, status, 'text/html; charset=utf-8', html, {
    'content-security-policy': POLICY,
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
  });
}

/** Escapes text for HTML, also in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Turns mrkdwn into HTML: entities, code and single bold words. Mentions become user IDs. */
export function htmlOfWords(words: string): string {
  const named = words.replace(/<@([A-Z0-9]+)>/g, 'Slack user $1');
  const plain = named.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
  return escapeHtml(plain)
    .replace(/`([^`]*)`/g, '<code>$1</code>')
    .replace(/\*([^\s*]+)\*/g, '<b>$1</b>');
}

/** Answers completely. The headers forbid caching, content sniffing and referrers. */
export function answer(
  response: ServerResponse,
  status: number,
  type: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    ...headers,
  });
  response.end(body);
}

/** The largest form that is read: the app's only one has one key. */
const FORM_LIMIT_BYTES = 8192;

/** Reads a posted form of up to 8 KiB; undefined if it is no form. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | 'too_long' | undefined> {
  if (!request.headers['content-type']?.startsWith('application/x-www-form-urlencoded')) return undefined;
  const parts: Buffer[] = [];
  let length = 0;
  // Read to the end anyway: a client that is cut off while sending never reads the answer.
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length <= FORM_LIMIT_BYTES) parts.push(part);
  }
  if (length > FORM_LIMIT_BYTES) return 'too_long';
  return new URLSearchParams(Buffer.concat(parts).toString('utf8'));
}
