import { Redis, type RedisOptions } from 'ioredis';

/** How long nothing may come back over a connection before it is replaced. */
const DEAD_AFTER_MS = 10_000;

const OPTIONS = {
  // Bottleneck gives up a slot that it couldn't give back in Redis: its commands wait until Redis is back.
  maxRetriesPerRequest: null,
  // After a failover, the address may lead to the new primary.
  reconnectOnError: (error) => error.message.startsWith('READONLY'),
  // The first command connects.
  lazyConnect: true,
  connectTimeout: 5000,
  socketTimeout: DEAD_AFTER_MS,
  connectionName: 'vps-slack',
} satisfies RedisOptions;

/** What Bottleneck's scripts begin with; the time of the process that runs them. */
const TIME_OF_PROCESS = 'local now = tonumber(ARGV[1])';
const TIME_OF_REDIS =
  "local now = (function() local t = redis.call('time') return t[1] * 1000 + math.floor(t[2] / 1000) end)()";

/** A script that writes, as Bottleneck's do: a replica, or a Redis that is full, refuses it. */
const PROBE = "redis.call('time') return redis.call('set', KEYS[1], '', 'px', 60000)";

/** Redis 7 puts it before what a script calls an error; Bottleneck 2.19 doesn't know that. */
const PREFIX = /^ERR (?=SETTINGS_KEY_NOT_FOUND|UNKNOWN_CLIENT|OVERWEIGHT)/;

/** The script that gives a place back; Bottleneck doesn't try again when it fails. */
const GIVE_BACK = 'free';
/** What a Redis says that takes no writes at the moment. */
const REFUSED = /^(OOM|READONLY|MISCONF|NOREPLICAS|CLUSTERDOWN|NOPERM|BUSY|LOADING|MASTERDOWN)/;

/** Runs one of Bottleneck's scripts; the last argument is a callback. */
type Run = (...args: unknown[]) => unknown;

/**
 * A connection to Redis for Bottleneck 2.19, which has two faults that are corrected here: it doesn't understand the errors of
 * Redis 7 (its issues 205 and 212), after which nothing would run any more, and it compares the wall clocks of machines.
 */
export class RedisClient extends Redis {
  #subscriber: Redis | undefined;
  /** Runs again what Redis refused, although it must not be lost. */
  readonly #refused: (() => void)[] = [];

  static to(url: string): RedisClient {
    const client = new RedisClient(url, OPTIONS);
    // What is wrong is found by probing it. Without a listener, each error would be printed.
    return client.on('error', () => {});
  }

  override defineCommand(name: string, definition: Parameters<Redis['defineCommand']>[1]): void {
    super.defineCommand(name, { ...definition, lua: definition.lua.replace(TIME_OF_PROCESS, TIME_OF_REDIS) });
    const run: unknown = Reflect.get(this, name);
    if (typeof run !== 'function') throw new Error(`ioredis has no command ${name}`);
    const runPatched: Run = (...args) => {
      const again = name === GIVE_BACK ? () => this.#refused.push(() => runPatched(...args)) : undefined;
      return Reflect.apply(
        run,
        this,
        args.map((argument) => patchCallback(argument, again)),
      );
    };
    Reflect.set(this, name, runPatched);
  }

  /** Gives back the places that couldn't be given back while Redis was full, or a replica. */
  repeatRefused(): void {
    for (const run of this.#refused.splice(0)) run();
  }

  /** Bottleneck's second connection, which hears when places become free. */
  override duplicate(options: Partial<RedisOptions> = {}): Redis {
    const subscriber = new RedisClient({ ...this.options, ...options }).on('error', () => {});
    const unsubscribe = subscriber.unsubscribe.bind(subscriber);
    // Bottleneck doesn't catch it when the connection ends first, which would end the process.
    const unsubscribeIfOpen = (channel: string) => unsubscribe(channel).catch(() => undefined);
    Reflect.set(subscriber, 'unsubscribe', unsubscribeIfOpen);
    this.#subscriber = subscriber;
    return subscriber;
  }

  /** Asks Redis, over both connections, for what Bottleneck needs. Rejects if it refuses. */
  async probe(): Promise<void> {
    await Promise.all([this.eval(PROBE, 1, 'vps-slack-probe'), this.#subscriber?.ping()]);
  }
}

function patchCallback(argument: unknown, again: (() => void) | undefined): unknown {
  if (typeof argument !== 'function') return argument;
  return (error: Error | null | undefined, reply: unknown) => {
    if (error) error.message = error.message.replace(PREFIX, '');
    if (error && again && REFUSED.test(error.message)) again();
    else argument(error, reply);
  };
}
