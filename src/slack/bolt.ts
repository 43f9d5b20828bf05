import type { RequestListener } from 'node:http';
import { App, type Receiver } from '@slack/bolt';
import { type Logger, LogLevel } from '@slack/web-api';
import { describeDefect } from '../core/errors.ts';
import { InFlight } from '../core/locks.ts';
import type { Log } from '../log.ts';
import type { System } from '../system.ts';
import type { Dispatch } from './dispatch.ts';
import { isSilent, WORKING } from './reply.ts';
import type { Delivery } from './routing.ts';

/** How Slack's requests reach the app. */
export interface Transport {
  readonly receiver: Receiver;
  /** Takes what is posted to `/slack/events`; absent where nothing comes over HTTP. */
  readonly listener?: RequestListener;
  /** Begins to take requests; resolves after the first attempt, which may have failed. */
  start(): Promise<void>;
  /** What keeps Slack's requests from arriving, one sentence each. */
  faults(): readonly string[];
  /** Takes no more requests; resolves when those that it took have been acknowledged. */
  close(): Promise<void>;
}

/** Bolt, running over some receiver. */
interface BoltApp {
  /** Resolves when all requests that were begun have ended. */
  drain(): Promise<void>;
}

/**
 * Starts Bolt with one listener for each kind of request: Bolt runs every listener for every request. There is no
 * conversation store, which would throw and catch once per command, and no token: calls of Slack's API go through the
 * client of their workspace.
 */
export async function startBolt(options: {
  readonly receiver: Receiver;
  readonly slackApiUrl: string;
  readonly dispatch: Dispatch;
  readonly system: Pick<System, 'sleep'>;
  readonly log: Log;
}): Promise<BoltApp> {
  const { receiver, dispatch, log } = options;
  const logger = quietLogger(log);
  const app = new App({
    receiver,
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
  const start = (work: Promise<void>): void => {
    inFlight
      .add(work)
      .catch((error: unknown) => log.error('a request was not understood', describeDefect(error)));
  };
  registerCommand(app, dispatch, start, options.system);
  register(app, dispatch, start, inFlight);
  await app.init();
  return { drain: () => inFlight.drain() };
}

/**
 * The work begins before the ack, which says that it goes on where the user sees nothing of it soon. Words in an ack use
 * up none of the five uses of the `response_url`.
 */
function registerCommand(
  app: App,
  dispatch: Dispatch,
  start: (work: Promise<void>) => void,
  system: Pick<System, 'sleep'>,
): void {
  app.command(/.*/, async ({ ack, body, context }) => {
    const answered = withResolvers<boolean>();
    const visible = withResolvers<void>();
    const delivery = {
      ...delivered(context),
      answered: answered.promise.then(() => undefined),
      saysWorking: answered.promise,
      onVisible: visible.resolve,
    };
    const work = dispatch.command(body, delivery);
    start(work);
    const silent = await isSilent(work, visible.promise, system);
    // An ack that can't be sent is one that Slack has given up: what follows the work must not wait for it.
    await (silent ? ack({ response_type: 'ephemeral', text: WORKING }) : ack()).finally(() =>
      answered.resolve(silent),
    );
  });
}

/** Acknowledges first and works afterwards: the only thing that may delay an ack is the one row of a confirmation. */
function register(
  app: App,
  dispatch: Dispatch,
  start: (work: Promise<void>) => void,
  inFlight: InFlight,
): void {
  app.action(/.*/, async ({ ack, body, context }) => {
    await ack();
    start(dispatch.action(body, delivered(context)));
  });
  app.view({ callback_id: /.*/, type: 'view_submission' }, async ({ ack, body, context }) => {
    const { promise: answered, resolve } = withResolvers<void>();
    const { ack: answer, after } = await inFlight.add(
      dispatch.submission(body, { ...delivered(context), answered }),
    );
    if (after) start(after());
    await (answer ? ack(answer) : ack()).finally(resolve);
  });
  app.options(/.*/, async ({ ack, body }) => {
    await ack(await inFlight.add(dispatch.suggestion(body)));
  });
  // The one event that Bolt does not acknowledge itself: an unacknowledged one comes again.
  app.event('function_executed', async ({ ack, body }) => {
    const after = await inFlight.add(dispatch.step(body));
    await ack();
    if (after) start(after());
  });
  // Bolt itself acknowledges events; a shortcut without a listener would be left to Slack's time-out.
  app.shortcut(/.*/, async ({ ack, body, context }) => {
    await ack();
    start(dispatch.shortcut(body, delivered(context)));
  });
  app.event(/.*/, async ({ body, context }) => start(dispatch.event(body, delivered(context))));
  app.error(async (error) => {
    throw error; // Bolt answers 500 at once, rather than leaving Slack to wait for 3 s
  });
}

/** An empty ID would be the same for all requests that have none, so it counts as none. */
function delivered(context: Readonly<Record<string, unknown>>): Delivery {
  const { requestId, retryNum } = context;
  const delivery = { answered: Promise.resolve(), isRepeated: Number(retryNum) > 0 };
  return typeof requestId === 'string' && requestId !== '' ? { ...delivery, requestId } : delivery;
}

function withResolvers<Value>() {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Slack's own packages log whole bodies at debug level, a root password included: only that there was trouble is kept. */
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
