import type { IncomingMessage, ServerResponse } from 'node:http';

/** Sends a complete answer. Its headers forbid caching, content sniffing and referrers. */
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

/** The largest form that is read: ours holds only one key. */
const FORM_LIMIT_BYTES = 8192;

/** Reads a posted form; undefined when it is no form. */
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
