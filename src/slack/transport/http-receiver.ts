import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse as parseForm } from 'node:querystring';
import { HTTPReceiver, isValidSlackRequest } from '@slack/bolt';
import type { Secret } from '../../domain/secret.ts';
import type { Log } from '../../log.ts';
import type { Transport } from './bolt.ts';
import { quietLogger } from './quiet-logger.ts';
import { deliveryId } from './request-id.ts';
import { claimedWorkspace, createRoundRobin } from './round-robin.ts';

/** A view with its fields, and nothing near what would fill the memory. */
const BODY_LIMIT_BYTES = 1024 * 1024;

/** Slack's requests over HTTP, each with Slack's signature. They are taken as soon as our own server listens. */
export function createHttpReceiver(options: {
  readonly signingSecret: Secret<string>;
  readonly log: Log;
}): Transport {
  const signingSecret = options.signingSecret.reveal();
  const receiver = new HTTPReceiver({
    signingSecret,
    endpoints: ['/slack/events'],
    logger: quietLogger(options.log),
    customPropertiesExtractor: ({ headers, rawBody }) => ({
      requestId: deliveryId(headers['x-slack-request-timestamp'], rawBody),
    }),
  });
  const inTurn = createRoundRobin();
  const isSigned = ({ headers }: IncomingMessage, body: string): boolean =>
    isValidSlackRequest({
      signingSecret,
      body,
      headers: {
        'x-slack-signature': String(headers['x-slack-signature']),
        'x-slack-request-timestamp': Number(headers['x-slack-request-timestamp']),
      },
    });
  const listen = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request, response);
    if (body === undefined) return;
    // Others are refused at once: they could take a workspace's turns, or fill the memory while they wait.
    if (isSigned(request, body)) await inTurn(claimedWorkspace(body));
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

/**
 * Reads the body for Bolt, which takes one that is there already. Bolt itself looks into what it has parsed without
 * asking whether that is anything: a signed `null` would end the process. Undefined when the request is answered.
 */
async function buffer(request: IncomingMessage, response: ServerResponse): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request) {
    if (!Buffer.isBuffer(part)) continue;
    length += part.length;
    if (length <= BODY_LIMIT_BYTES) parts.push(part);
  }
  const rawBody = Buffer.concat(parts);
  const body = rawBody.toString();
  const status = length > BODY_LIMIT_BYTES ? 413 : isNull(body) ? 400 : undefined;
  if (status !== undefined) {
    response.writeHead(status).end();
    return undefined;
  }
  Object.assign(request, { rawBody });
  return body;
}

function isNull(body: string): boolean {
  const { payload } = parseForm(body);
  return [body, payload].some((text) => typeof text === 'string' && text.trim() === 'null');
}
