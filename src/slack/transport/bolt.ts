import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { parse as parseForm } from 'node:querystring';
import { App, HTTPReceiver } from '@slack/bolt';
import { describeDefect } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';
import type { Log } from '../../log.ts';
import type { Dispatch } from './dispatch.ts';
import { quietLogger } from './slack-api.ts';

/** A view with its fields, and nothing near what would fill the memory. */
const BODY_LIMIT_BYTES = 1024 * 1024;

export interface SlackDoor {
  /** Takes what is posted to `/slack/events`; checks Slack's signature. */
  readonly listener: RequestListener;
  /** Resolves when all that was begun has ended. */
  drain(): Promise<void>;
}

/**
 * Bolt over HTTP with one listener for each kind of request: Bolt runs every listener for every request,
 * so one more would cost every request. No conversation store: it would throw and catch once a command.
 */
export async function createSlackDoor(options: {
  signingSecret: Secret<string>;
  botToken: Secret<string>;
  slackApiUrl: string;
  dispatch: Dispatch;
  log: Log;
}): Promise<SlackDoor> {
  const { dispatch, log } = options;
  const logger = quietLogger(log);
  const receiver = new HTTPReceiver({
    signingSecret: options.signingSecret.reveal(),
    endpoints: ['/slack/events'],
    logger,
    customPropertiesExtractor: ({ headers }) => ({ requestId: String(headers['x-slack-signature'] ?? '') }),
  });
  const app = new App({
    receiver,
    logger,
    convoStore: false,
    ignoreSelf: false,
    authorize: async () => ({ botToken: options.botToken.reveal() }),
    clientOptions: { slackApiUrl: options.slackApiUrl, timeout: 5000, retryConfig: { retries: 0 }, logger },
    deferInitialization: true,
  });
  const running = new Set<Promise<void>>();
  const begin = (work: Promise<void>): void => {
    const ended = work
      .catch((error: unknown) => log.error('a request was not understood', describeDefect(error)))
      .finally(() => running.delete(ended));
    running.add(ended);
  };
  register(app, dispatch, begin);
  await app.init();
  return {
    listener: (request, response) => {
      buffer(request, response)
        .then((isReadable) => isReadable && receiver.requestListener(request, response))
        .catch(() => response.destroy());
    },
    drain: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/**
 * Reads the body for Bolt, which takes one that is there already. Bolt itself looks into what it has parsed without
 * asking whether that is anything: a signed `null` would end the process. False when the request is answered.
 */
async function buffer(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length <= BODY_LIMIT_BYTES) parts.push(part);
  }
  const rawBody = Buffer.concat(parts);
  const status = length > BODY_LIMIT_BYTES ? 413 : isNull(rawBody.toString()) ? 400 : undefined;
  if (status !== undefined) response.writeHead(status).end();
  else Object.assign(request, { rawBody });
  return status === undefined;
}

function isNull(body: string): boolean {
  const { payload } = parseForm(body);
  return [body, payload].some((text) => typeof text === 'string' && text.trim() === 'null');
}

/** Acknowledged first, worked on then: nothing that takes time stands before an ack, but a confirmation's one row. */
function register(app: App, dispatch: Dispatch, begin: (work: Promise<void>) => void): void {
  app.command(/.*/, async ({ ack, body, context }) => {
    await ack();
    begin(dispatch.command(body, requestIdOf(context)));
  });
  app.action(/.*/, async ({ ack, body, context }) => {
    await ack();
    begin(dispatch.action(body, requestIdOf(context)));
  });
  app.view({ callback_id: /.*/, type: 'view_submission' }, async ({ ack, body, context }) => {
    const { ack: answer, after } = await dispatch.submission(body, requestIdOf(context));
    await (answer ? ack(answer) : ack());
    if (after) begin(after());
  });
  app.options(/.*/, async ({ ack, body }) => {
    await ack({ options: await dispatch.suggestion(body) });
  });
  app.error(async (error) => {
    throw error; // Bolt answers 500 at once, rather than leaving Slack to wait for 3 s
  });
}

function requestIdOf(context: Readonly<Record<string, unknown>>): string {
  return String(context.requestId ?? '');
}
