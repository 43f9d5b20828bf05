import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse as parseForm } from 'node:querystring';
import { HTTPReceiver, isValidSlackRequest } from '@slack/bolt';
import type { Secret } from '../../domain/secret.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import type { Log } from '../../log.ts';
import type { System } from '../../system.ts';
import type { Transport } from './bolt.ts';
import { quietLogger } from './quiet-logger.ts';
import { deliveryId } from './request-id.ts';
import type { SlackClock } from './slack-clock.ts';
import { BODY_LIMIT_BYTES, UnverifiedBodies, type UnverifiedBody } from './unverified-bodies.ts';

/**
 * Bolt reads a form before it looks at its signature, since Slack's own test of the address has none. To read a MiB of it can take
 * half a second, so that anyone could hold everything up: what is longer than that test can be is refused unread.
 */
const MOST_UNSIGNED = 4096;

/** By then, the requests that filled the memory have ended. */
const RETRY_AFTER_SECONDS = '30';

/** Slack's requests over HTTP, each with Slack's signature. They are taken as soon as our own server listens. */
export function createHttpReceiver(options: {
  readonly signingSecret: Secret<string>;
  readonly log: Log;
  readonly system: Pick<System, 'elapsed'>;
  readonly bodies?: UnverifiedBodies;
  readonly clock: Pick<SlackClock, 'noteRequest'>;
}): Transport {
  const { log, system, bodies = new UnverifiedBodies() } = options;
  const signingSecret = options.signingSecret.reveal();
  const receiver = createBoltReceiver(signingSecret, log);
  const warn = warnNowAndThen(log, system);
  const listen = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const arriving = bodies.open(() => {
      warn();
      giveUp(response);
    });
    try {
      const body = await buffer(request, response, arriving);
      if (body === undefined) return;
      const isOurs = isSigned(request, body, signingSecret);
      const isRefused = isOurs ? isNull(body) : body.length > MOST_UNSIGNED;
      if (isRefused) return answerAlone(response, isOurs ? 400 : 401);
      if (isOurs) options.clock.noteRequest(Number(request.headers['x-slack-request-timestamp']) * 1000);
    } finally {
      arriving.release();
    }
    receiver.requestListener(request, response);
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

/** Thousands of requests may be given up in a second. */
function warnNowAndThen(log: Log, system: Pick<System, 'elapsed'>): () => void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (system.elapsed() - warnedAt < MINUTE_MS) return;
    warnedAt = system.elapsed();
    log.warn('large requests to /slack/events were given up: those that arrived slowly took too much memory');
  };
}

/** The body that has arrived so far was dropped. Slack sends an event again; after a command, the user reads that it failed. */
function giveUp(response: ServerResponse): void {
  response.writeHead(503, { 'retry-after': RETRY_AFTER_SECONDS }).end();
}

/** Reads the body for Bolt, which takes one that is there already. Undefined when the request is answered. */
async function buffer(
  request: IncomingMessage,
  response: ServerResponse,
  arriving: UnverifiedBody,
): Promise<string | undefined> {
  // Read to the end anyway: a client that is cut off while sending never reads the answer.
  for await (const part of request) if (Buffer.isBuffer(part)) arriving.add(part);
  if (response.headersSent) return undefined;
  const rawBody = arriving.read();
  if (arriving.length > BODY_LIMIT_BYTES) {
    answerAlone(response, 413);
    return undefined;
  }
  Object.assign(request, { rawBody });
  return rawBody.toString();
}

function answerAlone(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}

/** Bolt looks into what it has parsed without asking whether that is anything: a signed `null` would end the process. */
function isNull(body: string): boolean {
  const { payload } = parseForm(body);
  return [body, payload].some((text) => typeof text === 'string' && text.trim() === 'null');
}
