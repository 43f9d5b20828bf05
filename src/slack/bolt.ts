import type { RequestListener } from 'node:http';
import { App, type RespondArguments } from '@slack/bolt';
import type { KnownBlock } from '@slack/types';
import { type Logger, LogLevel } from '@slack/web-api';
import { describeDefect } from '../core/errors.ts';
import { InFlight, withResolvers } from '../core/promises.ts';
import type { Log } from '../log.ts';
import type { Dispatch } from './dispatch.ts';
import type { Message } from './kit/blocks.ts';
import type { Delivery } from './routing.ts';

/** A transport for Slack's requests: HTTP or Socket Mode. */
export interface Transport {
  connect(app: App): void;
  /** Handles what is posted to `/slack/events`; absent in Socket Mode. */
  readonly listener?: RequestListener;
  /** Starts to take requests; resolves after the first attempt, which may have failed. */
  start(): Promise<void>;
  /** Lists what keeps Slack's requests from arriving, a sentence each. */
  faults(): readonly string[];
  /** Stops taking requests; resolves when those that it took have been acknowledged. */
  close(): Promise<void>;
}

/**
 * Starts Bolt with one listener for each kind of request: Bolt runs every listener for every request. There is no
 * conversation store, which would throw and catch once per command, and no token: calls of Slack's API go through the
 * client of their workspace. `drain` resolves when the work for all requests has ended.
 */
export async function startBolt(options: {
  readonly transport: Transport;
  readonly slackApiUrl: string;
  readonly dispatch: Dispatch;
  readonly log: Log;
}) {
  const { transport, dispatch, log } = options;
  const logger = quietLogger(log);
  const app = new App({
    // Transports start and stop by themselves.
    receiver: { init: transport.connect, start: async () => undefined, stop: async () => undefined },
    logger,
    convoStore: false,
    ignoreSelf: false,
    authorize: async () => ({}),
    clientOptions: { slackApiUrl: options.slackApiUrl, timeout: 5000, retryConfig: { retries: 0 }, logger },
    deferInitialization: true,
    // The library would keep a client, with its token, for every run of a step.
    attachFunctionToken: false,
  });
  const inFlight = new InFlight();
  // Logged here: what a transport gets from Bolt says nothing of where it was thrown, and looks like an unreadable body.
  const run = <Result>(work: Promise<Result>): Promise<Result> =>
    inFlight.add(work).catch((error: unknown) => {
      log.error('a request was not understood', describeDefect(error));
      throw error;
    });
  const start = (work: Promise<void>): void => void run(work).catch(() => undefined);
  // The work for a command starts before its ack: an answer that is ready soon is sent with it. A middleware takes commands, so that
  // Bolt doesn't run every listener for each of them.
  app.use(async (args) => {
    if (!('command' in args)) return args.next();
    const { ack, body, context } = args;
    const { promise: answered, resolve } = withResolvers();
    const { inAck, ended, postUnsent } = dispatch.command(body, { ...delivered(context), answered });
    start(ended);
    const message = await inAck;
    // Resolves also if the ack can't be sent, since Slack has then given up: follow-ups must not wait for it.
    await (message ? ack(ephemeral(message)).catch(() => start(postUnsent())) : ack()).finally(resolve);
  });
  // Presses and shortcuts are acknowledged before their work; submissions, menus and steps when their answer is known or they are
  // stored.
  app.action(/.*/, async ({ ack, body, context }) => {
    await ack();
    start(dispatch.action(body, delivered(context)));
  });
  app.view({ callback_id: /.*/, type: 'view_submission' }, async ({ ack, body, context }) => {
    const { promise: answered, resolve } = withResolvers();
    const { ack: answer, after } = await run(dispatch.submission(body, { ...delivered(context), answered }));
    if (after) start(after());
    await (answer ? ack(answer) : ack()).finally(resolve);
  });
  app.options(/.*/, async ({ ack, body }) => {
    await ack(await run(dispatch.suggestion(body)));
  });
  // Bolt leaves the acknowledgment of this event to its listener. Slack sends an unacknowledged one again.
  app.event('function_executed', async ({ ack, body }) => {
    const after = await run(dispatch.step(body));
    await ack();
    if (after) start(after());
  });
  // A shortcut without a listener would never be acknowledged.
  app.shortcut(/.*/, async ({ ack, body, context }) => {
    await ack();
    start(dispatch.shortcut(body, delivered(context)));
  });
  app.event(/.*/, async ({ body, context }) => start(dispatch.event(body, delivered(context))));
  app.error(async (error) => {
    throw error; // so that Bolt answers 500 at once, and Slack doesn't wait for 3 s
  });
  await app.init();
  return { drain: () => inFlight.drain() };
}

function ephemeral({ text, blocks }: Message): RespondArguments {
  // Blocks that only the newest clients know aren't sent with an ack (dispatch.ts), so that these are blocks that Bolt knows.
  return { response_type: 'ephemeral', text, ...(blocks.length > 0 && { blocks: blocks as KnownBlock[] }) };
}

/** Reads how a request was delivered. Over HTTP, its signature identifies it, and in Socket Mode its envelope. */
function delivered({ requestId, retryNum, mayBeReplay }: Readonly<Record<string, unknown>>): Delivery {
  return {
    answered: Promise.resolve(),
    isRepeated: Number(retryNum) > 0,
    mayBeReplay: mayBeReplay === true,
    ...(typeof requestId === 'string' && { requestId }),
  };
}

/** Creates a logger for Slack's packages that drops what they say: they log whole bodies, root passwords included. */
export function quietLogger(log: Log): Logger {
  return {
    debug() {},
    info() {},
    warn: () => log.debug('Slack’s library warned'),
    error: () => log.debug('Slack’s library reported an error'),
    setLevel() {},
    setName() {},
    getLevel: () => LogLevel.ERROR,
  };
}
