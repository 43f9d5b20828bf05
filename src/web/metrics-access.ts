import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Secret } from '../domain/secret.ts';

/** What is known of a request for `/metrics`. */
interface MetricsRequest {
  readonly remoteAddress: string | undefined;
  readonly httpVersion: string;
  readonly headers: IncomingHttpHeaders;
}

interface MetricsRefusal {
  readonly status: 401 | 403;
  readonly words: string;
  readonly headers: Readonly<Record<string, string>>;
}

const ONLY_HERE: MetricsRefusal = {
  status: 403,
  words: '/metrics is only shown on this machine. To read it from elsewhere, set METRICS_TOKEN.',
  headers: {},
};
const TOKEN_NEEDED: MetricsRefusal = {
  status: 401,
  words: '/metrics needs the header "Authorization: Bearer …" with METRICS_TOKEN.',
  headers: { 'www-authenticate': 'Bearer' },
};

/**
 * Why a request may not read the metrics; undefined when it may (docs/design.md 8, `METRICS_TOKEN`). With a token, it is
 * needed on this machine as well: a proxy there makes all requests look as if they came from here.
 */
export function findMetricsRefusal(
  request: MetricsRequest,
  token: Secret<string> | undefined,
): MetricsRefusal | undefined {
  if (token) return hasToken(request.headers, token) ? undefined : TOKEN_NEEDED;
  return isFromHere(request) ? undefined : ONLY_HERE;
}

/**
 * What the operator of an app with a public address should know: undefined with a token, and where nothing is passed on to
 * the app. A proxy here that adds no header, such as a tunnel, can't be told from a program here, so its requests are answered.
 */
export function describeOpenMetrics(
  publicUrl: string | undefined,
  token: Secret<string> | undefined,
): string | undefined {
  if (token || !publicUrl?.startsWith('https:')) return undefined;
  return 'programs on this machine can read /metrics; so can everybody if a proxy or tunnel here passes it on: set METRICS_TOKEN, or don’t pass it on';
}

function hasToken({ authorization = '' }: IncomingHttpHeaders, token: Secret<string>): boolean {
  const given = /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? '';
  // Hashes have one length, so how long this takes says nothing about the token.
  return timingSafeEqual(hash(given), hash(token.reveal()));
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

const FORWARDED = /^(?:forwarded|via|x-forwarded-.+|x-real-ip|.+-client-ip|.+-connecting-ip)$/;
const LOOPBACK = /^(?:::1|(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/;
const LOCAL_HOST = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(?::\d+)?$/i;

/** From a program on this machine, rather than passed on by a proxy that runs here. */
function isFromHere({ remoteAddress = '', httpVersion, headers }: MetricsRequest): boolean {
  return (
    LOOPBACK.test(remoteAddress) &&
    LOCAL_HOST.test(headers.host ?? '') &&
    // nginx speaks HTTP/1.0 to what is behind it, and adds no header, unless it is told to.
    httpVersion !== '1.0' &&
    !Object.keys(headers).some((name) => FORWARDED.test(name))
  );
}
