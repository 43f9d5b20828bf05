import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse as parseForm } from 'node:querystring';
import { HTTPReceiver, isValidSlackRequest } from '@slack/bolt';
import type { Secret } from '../core/secret.ts';
import type { Log } from '../log.ts';
import { quietLogger, type Transport } from './bolt.ts';
import type { SlackClock } from './slack-api.ts';

/**
 * The longest unsigned body that is parsed, in characters. Bolt parses a form before it checks the signature, since Slack's test of
 * the address has none. Parsing a MiB can take half a second, so that anyone could block the process.
 */
const MOST_UNSIGNED = 4096;

/**
 * The largest body: room for a view with its fields, or a long message. A signature can be checked only once the whole body is
 * there, so anyone can make the app hold one for each connection (`web/server.ts` limits those).
 */
const BODY_LIMIT_BYTES = 512 * 1024;
/** The memory that is reserved at first: enough for the body of a command. */
const FIRST_BYTES = 4096;

/** Creates the transport for Slack's signed requests over HTTP. It takes them as soon as the app's server listens. */
export function createHttpReceiver(options: {
  readonly signingSecret: Secret<string>;
  readonly log: Log;
  readonly clock: SlackClock;
}): Transport {
  const signingSecret = options.signingSecret.reveal();
  const receiver = createBoltReceiver(signingSecret, options.log);
  const listen = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const rawBody = await readBody(request);
    if (!rawBody) return answerAlone(response, 413);
    const body = rawBody.toString();
    const isOurs = isSigned(request, body, signingSecret);
    const isRefused = isOurs ? isNull(body) : body.length > MOST_UNSIGNED;
    if (isRefused) return answerAlone(response, isOurs ? 400 : 401);
    if (isOurs) options.clock.noteRequest(Number(request.headers['x-slack-request-timestamp']) * 1000);
    // Bolt takes a body that was read before.
    receiver.requestListener(Object.assign(request, { rawBody }), response);
  };
  return {
    receiver,
    listener: (request, response) => {
      listen(request, response).catch(() => response.destroy());
    },
    start: async () => undefined,
    faults: () => [],
    close: async () => undefined,
  };
}

function createBoltReceiver(signingSecret: string, log: Log): HTTPReceiver {
  return new HTTPReceiver({
    signingSecret,
    endpoints: ['/slack/events'],
    logger: quietLogger(log),
    customPropertiesExtractor: ({ headers, rawBody }) => ({
      requestId: deliveryId(headers['x-slack-request-timestamp'], rawBody),
    }),
  });
}

function isSigned({ headers }: IncomingMessage, body: string, signingSecret: string): boolean {
  return isValidSlackRequest({
    signingSecret,
    body,
    headers: {
      'x-slack-signature': String(headers['x-slack-signature']),
      'x-slack-request-timestamp': Number(headers['x-slack-request-timestamp']),
    },
  });
}

/**
 * Reads a body; undefined if it is too long. Reads into one piece of memory: thousands of parts of a byte each would take two
 * hundred times as much.
 */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  let memory = Buffer.alloc(FIRST_BYTES);
  let length = 0;
  // Read to the end anyway: a client that is cut off while sending never reads the answer.
  for await (const part of request) {
    if (!Buffer.isBuffer(part)) continue;
    const end = length + part.length;
    if (end > BODY_LIMIT_BYTES) memory = Buffer.alloc(0);
    else if (end > memory.length) memory = grow(memory, end);
    part.copy(memory, length);
    length = end;
  }
  return length > BODY_LIMIT_BYTES ? undefined : memory.subarray(0, length);
}

function grow(memory: Buffer, bytes: number) {
  const grown = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(bytes)));
  memory.copy(grown);
  return grown;
}

function answerAlone(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}

/** Whether a body or its payload is `null`, which Bolt doesn't expect: it would end the process. */
function isNull(body: string): boolean {
  const { payload } = parseForm(body);
  return [body, payload].some((text) => typeof text === 'string' && text.trim() === 'null');
}

/**
 * Returns the ID of a delivery: a hash of what Slack's signature covers, the time and the body as Bolt reads them. The signature's
 * header itself would not do: only its part up to a second `=` is verified, so that a copy could be given another one.
 */
function deliveryId(timestamp: unknown, rawBody: Buffer): string {
  return createHash('sha256')
    .update(`v0:${Number(timestamp)}:`)
    .update(rawBody.toString())
    .digest('hex');
}

/**
 * Returns the ID of a request: a hash of the names that Slack gives it, which stay the same if Slack signs the request again.
 * Undefined if one is missing or empty, since different requests would share the ID.
 */
export function namedId(...parts: readonly (string | undefined)[]): string | undefined {
  if (parts.some((part) => !part)) return undefined;
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
