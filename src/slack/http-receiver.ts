import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse as parseForm } from 'node:querystring';
import { HTTPReceiver, isValidSlackRequest } from '@slack/bolt';
import type { Secret } from '../core/secret.ts';
import type { Log } from '../log.ts';
import { quietLogger, type Transport } from './bolt.ts';
import type { SlackClock } from './slack-api.ts';

/**
 * Bolt reads a form before it looks at its signature, since Slack's own test of the address has none. To read a MiB of it can take
 * half a second, so that anyone could hold everything up: what is longer than that test can be is refused unread.
 */
const MOST_UNSIGNED = 4096;

/**
 * A view with its fields, or a long message. A signature can be checked only once its whole body is there, so as many as there may be
 * connections (`web/server.ts`) are kept for anyone.
 */
const BODY_LIMIT_BYTES = 512 * 1024;
/** A command's body fits in, so its memory never has to grow. */
const FIRST_BYTES = 4096;

/** Slack's requests over HTTP, each with Slack's signature. They are taken as soon as our own server listens. */
export function createHttpReceiver(options: {
  readonly signingSecret: Secret<string>;
  readonly log: Log;
  readonly clock: Pick<SlackClock, 'noteRequest'>;
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
    // Bolt takes a body that is there already.
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
 * Undefined if it is too long. In one piece of memory: thousands of parts of one byte each would cost two hundred times what they say.
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

/** Bolt looks into what it has parsed without asking whether that is anything: a signed `null` would end the process. */
function isNull(body: string): boolean {
  const { payload } = parseForm(body);
  return [body, payload].some((text) => typeof text === 'string' && text.trim() === 'null');
}

/**
 * The ID of a delivery by what Slack's signature vouches for: the time and the body, both read as Bolt reads them. The header
 * itself would not do: only its part up to a second `=` is verified, so that a copy could be given a new one.
 */
function deliveryId(timestamp: unknown, rawBody: Buffer): string {
  return createHash('sha256')
    .update(`v0:${Number(timestamp)}:`)
    .update(rawBody.toString())
    .digest('hex');
}

/**
 * The ID of a request by what Slack names it, which is the same when Slack signs the request again. Undefined when a part
 * is missing or empty: such an ID would be shared by different requests.
 */
export function namedId(...parts: readonly (string | undefined)[]): string | undefined {
  if (parts.some((part) => !part)) return undefined;
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
