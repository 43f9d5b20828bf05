import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse as parseForm } from 'node:querystring';
import type { App } from '@slack/bolt';
import { LRUCache } from 'lru-cache';
import { describeDefect } from '../core/errors.ts';
import type { Secret } from '../core/secret.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { Log } from '../log.ts';
import type { Transport } from './bolt.ts';
import type { SlackClock } from './slack-api.ts';

/**
 * The longest unsigned body that is parsed, in characters: Slack's test of the address has no signature. Parsing a MiB can take half
 * a second, so that anyone could block the process.
 */
const MOST_UNSIGNED = 4096;

/**
 * The largest body: room for a view with its fields, or a long message. A signature can be checked only once the whole body is
 * there, so anyone can make the app hold one for each connection (`web/server.ts` limits those).
 */
const BODY_LIMIT_BYTES = 512 * 1024;
/** The memory that is reserved at first: enough for the body of a command. */
const FIRST_BYTES = 4096;

/** How long Slack waits for an ack. What arrives later than that after it was signed didn't come from Slack directly. */
const FRESH_MS = 3000;
/** How many of the latest requests are known: more than a process takes in `FRESH_MS`. */
const KNOWN_REQUESTS = 10_000;

/** Creates the transport for Slack's signed requests over HTTP. It takes them as soon as the app's server listens. */
export function createHttpReceiver(options: {
  readonly signingSecret: Secret<string>;
  readonly log: Log;
  readonly clock: SlackClock;
}): Transport {
  const signingSecret = options.signingSecret.reveal();
  const { clock } = options;
  // Limited by size, like `cacheLookups`.
  const known = new LRUCache<string, true>({ maxSize: KNOWN_REQUESTS, sizeCalculation: () => 1 });
  let app: App | undefined;
  const listen = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await readBody(request);
    if (text === undefined) return answer(response, 413);
    const signed = findSignature(request, text, signingSecret);
    if (!signed) return answer(response, isAddressTest(text) ? 200 : 401);
    const { signature, signedAt } = signed;
    clock.noteRequest(signedAt);
    const body = parseBody(text, request);
    if (!body) return answer(response, 400);
    if (body.ssl_check === '1') return answer(response, 200);
    if (body.type === 'url_verification') return answer(response, 200, { challenge: body.challenge });
    const mayBeReplay = known.has(signature) || clock.now() - signedAt > FRESH_MS;
    known.set(signature, true);
    const retries = Number(request.headers['x-slack-retry-num']);
    // Bolt's own receiver would check the signature and parse the body again.
    await app?.processEvent({
      body,
      ack: async (given) => {
        if (response.destroyed) throw new Error('Slack closed the connection');
        if (!response.headersSent) answer(response, 200, given);
      },
      ...(retries > 0 && { retryNum: retries }),
      customProperties: { requestId: signature, mayBeReplay },
    });
    // Bolt has waited for its listeners: there is none for such a request.
    if (!response.headersSent) answer(response, 404);
  };
  return {
    connect: (given) => {
      app = given;
    },
    listener: (request, response) => {
      listen(request, response).catch((error: unknown) => {
        // A client that goes away, and a body that Bolt can't read, are no failures of the app.
        if (!request.readableAborted && !response.destroyed && !isUnreadable(error))
          options.log.error('a request from Slack could not be dispatched', describeDefect(error));
        // Slack may already use the connection for its next request.
        if (response.writableEnded) return;
        // At once, so that Slack doesn't wait for 3 s.
        if (response.headersSent || request.readableAborted) response.destroy();
        else answer(response, isUnreadable(error) ? 400 : 500);
      });
    },
    start: async () => undefined,
    faults: () => [],
    close: async () => undefined,
  };
}

/** Whether it was the body: Bolt reads it without looking, and throws a TypeError for what Slack never sends. */
function isUnreadable(error: unknown): boolean {
  const cause = error instanceof Error && 'original' in error ? error.original : error;
  return cause instanceof TypeError;
}

/** Parses a signed body: a form, whose `payload` is JSON if it has one, or JSON. Undefined if it is no object. */
function parseBody(text: string, { headers }: IncomingMessage): Record<string, unknown> | undefined {
  try {
    const form = headers['content-type'] === FORM ? parseForm(text) : undefined;
    const { payload } = form ?? {};
    const body: unknown =
      form && typeof payload !== 'string' ? form : JSON.parse(payload?.toString() ?? text);
    return typeof body === 'object' && body !== null ? { ...body } : undefined;
  } catch {
    return undefined;
  }
}

const FORM = 'application/x-www-form-urlencoded';

/** Whether it is Slack's own test of the address, which has no signature. Nothing else of it is read. */
function isAddressTest(text: string): boolean {
  return text.length <= MOST_UNSIGNED && parseForm(text).ssl_check === '1';
}

/** Answers with a body if there is one: text, or an object as JSON. */
function answer(response: ServerResponse, status: number, body?: unknown): void {
  if (body === undefined || body === '')
    return void response.writeHead(status, { 'content-length': 0 }).end();
  const isText = typeof body === 'string';
  // As text: Node.js writes it together with the headers.
  const text = isText ? body : JSON.stringify(body);
  const type = `${isText ? 'text/plain' : 'application/json'}; charset=utf-8`;
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text);
}

/** How far the time of a signature may be off, as Slack advises. */
const SIGNATURE_MS = 5 * MINUTE_MS;

/**
 * Finds the signature of a body and its time (epoch milliseconds); undefined if it isn't Slack's, or more than five minutes off. By
 * Slack's rules (docs.slack.dev/authentication/verifying-requests-from-slack), like Bolt's own check, which takes three times as long
 * because it compares hashes of hashes. All of the header is compared, so that it identifies the request.
 */
function findSignature({ headers }: IncomingMessage, body: string, signingSecret: string) {
  const timestamp = String(headers['x-slack-request-timestamp']);
  const signedAt = Number(timestamp) * 1000;
  // By the machine's clock: the system's may be the database's.
  if (!/^\d+$/.test(timestamp) || Math.abs(Date.now() - signedAt) > SIGNATURE_MS) return undefined;
  const signature = `v0=${createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`).digest('hex')}`;
  const [given, ours] = [Buffer.from(String(headers['x-slack-signature'])), Buffer.from(signature)];
  return given.length === ours.length && timingSafeEqual(given, ours) ? { signature, signedAt } : undefined;
}

/**
 * Reads a body; undefined if it is too long. Reads into one piece of memory: thousands of parts of a byte each would take two
 * hundred times as much. By events: an iterator takes longer than everything else here.
 */
function readBody(request: IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let memory = Buffer.allocUnsafeSlow(FIRST_BYTES);
    let length = 0;
    // Read to the end anyway: a client that is cut off while sending never reads the answer.
    request.on('data', (part: Buffer) => {
      const end = length + part.length;
      if (end > BODY_LIMIT_BYTES) memory = Buffer.alloc(0);
      else if (end > memory.length) {
        const grown = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(end)));
        memory.copy(grown);
        memory = grown;
      }
      part.copy(memory, length);
      length = end;
    });
    request.once('end', () =>
      resolve(length > BODY_LIMIT_BYTES ? undefined : memory.toString('utf8', 0, length)),
    );
    request.once('error', reject);
  });
}
