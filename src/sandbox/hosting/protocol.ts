import type { IncomingMessage } from 'node:http';

/** What a request asks for; one per endpoint (docs/hosting-api.md 4). */
export type Operation = 'catalog' | 'servers' | 'create' | 'start' | 'stop' | 'reboot' | 'renew' | 'delete';

/** An endpoint that a request fits, with the server id as it was written. */
export interface Route {
  readonly operation: Operation;
  readonly id: string;
}

const ROUTES: readonly { method: string; path: RegExp; operation: Operation }[] = [
  { method: 'GET', path: /^\/catalog$/, operation: 'catalog' },
  { method: 'GET', path: /^\/servers$/, operation: 'servers' },
  { method: 'POST', path: /^\/servers$/, operation: 'create' },
  { method: 'POST', path: /^\/servers\/([^/]+)\/start$/, operation: 'start' },
  { method: 'POST', path: /^\/servers\/([^/]+)\/stop$/, operation: 'stop' },
  { method: 'POST', path: /^\/servers\/([^/]+)\/reboot$/, operation: 'reboot' },
  { method: 'POST', path: /^\/servers\/([^/]+)\/renew$/, operation: 'renew' },
  { method: 'DELETE', path: /^\/servers\/([^/]+)$/, operation: 'delete' },
];

/** The endpoint for a method and a path below the base address, if there is one. */
export function findRoute(method: string, path: string): Route | undefined {
  for (const route of ROUTES) {
    if (route.method !== method) continue;
    const match = route.path.exec(path);
    if (match) return { operation: route.operation, id: match[1] ?? '' };
  }
  return undefined;
}

/** Every error code, in the order of docs/hosting-api.md 7, with its customary status: the document names none. */
export const ERROR_STATUS = {
  unauthorized: 401,
  not_allowed: 403,
  bad_request: 400,
  not_enough_balance: 402,
  limit: 409,
  not_created: 502,
  checking: 504,
  not_found: 404,
  wrong_state: 409,
  rate_limited: 429,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

export const ERROR_CODES = Object.keys(ERROR_STATUS) as ErrorCode[];

/** A refusal of the service, which the caller gets as a code (docs/hosting-api.md 7). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode) {
    super(code);
    this.code = code;
  }
}

const MAX_BODY_BYTES = 64 * 1024;

/** Reads a request's whole body as text. @throws ApiError bad_request above 64 kB; the socket's own error when cut off */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Not `for await`: leaving that early destroys the socket, and the refusal could no longer be sent.
  // What comes above the limit is read and dropped for the same reason.
  return await new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
      else reject(new ApiError('bad_request'));
    });
    request.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    request.on('error', reject);
    request.on('close', () => reject(new Error('The request was cut off.')));
  });
}
