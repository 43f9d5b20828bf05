import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AppProcess, startProcess } from '../support/killable-team.ts';

/** How a process ended that was not stopped. */
interface Surprise {
  readonly pid: number;
  readonly output: string;
}

export type Processes = Awaited<ReturnType<typeof startProcesses>>;

const RESTART_MS = 200;

/** A start that failed, such as one while the database is away, is tried again as often. */
const RETRY_MS = 500;

/**
 * Starts as many processes of the app as there are environments, each started again when it has ended, as a process manager does.
 * Resolves when all of them listen.
 */
export async function startProcesses(environments: readonly Readonly<Record<string, string>>[]) {
  const running = new Map<number, AppProcess>();
  const ended: AppProcess[] = [];
  const expected = new Set<number>();
  const surprises: Surprise[] = [];
  /** When processes that were killed ran last: what arrived while one stood still died with it, unread. */
  const killedAt: number[] = [];
  const frozenAt = new Map<AppProcess, number>();
  let isOver = false;

  const end = (app: AppProcess) => {
    expected.add(app.pid);
    return app.kill();
  };
  const watch = async (slot: number, environment: Readonly<Record<string, string>>, began: () => void) => {
    while (!isOver) {
      const app = await startProcess(environment).catch(() => undefined);
      if (!app) {
        await sleep(RETRY_MS);
        continue;
      }
      running.set(slot, app);
      began();
      if (isOver) await end(app);
      await app.ended;
      running.delete(slot);
      ended.push(app);
      if (!expected.has(app.pid)) surprises.push({ pid: app.pid, output: app.output().slice(-2000) });
      if (!isOver) await sleep(RESTART_MS);
    }
  };
  const watches: Promise<void>[] = [];
  const begin = (environment: Readonly<Record<string, string>>, slot: number) =>
    new Promise<void>((began) => watches.push(watch(slot, environment, began)));
  await Promise.all(environments.map(begin));

  /** Those that run, by their place; what is started again takes the place of what has ended. */
  const places = () => new Map([...running].filter(([, app]) => !app.hasEnded()).sort(([a], [b]) => a - b));
  const taken = new Map<AppProcess, number>();
  /** All that any of them wrote since it was taken last. */
  const takeOutput = () => {
    const texts = [...ended, ...running.values()].map((app) => {
      const output = app.output();
      const text = output.slice(taken.get(app) ?? 0);
      taken.set(app, output.length);
      return text;
    });
    for (const app of ended.splice(0)) taken.delete(app);
    return texts.join('\n');
  };
  /** Ends the watch, stops all in order and returns their exit codes. */
  const stopAll = async () => {
    isOver = true;
    for (const { pid } of running.values()) expected.add(pid);
    const codes = await Promise.all([...running.values()].map((app) => app.stop()));
    await Promise.all(watches);
    return codes;
  };
  return {
    places,
    running: (): readonly AppProcess[] => [...places().values()],
    /** `kill -9`. */
    kill: async (app: AppProcess) => {
      expected.add(app.pid);
      killedAt.push(frozenAt.get(app) ?? Date.now());
      await app.kill();
    },
    /** SIGTERM. */
    stop: async (app: AppProcess) => {
      expected.add(app.pid);
      await app.stop();
    },
    /** Stands still for so long: no timer, no answer. */
    freeze: async (app: AppProcess, ms: number) => {
      process.kill(app.pid, 'SIGSTOP');
      frozenAt.set(app, frozenAt.get(app) ?? Date.now());
      await sleep(ms);
      frozenAt.delete(app);
      if (!app.hasEnded()) process.kill(app.pid, 'SIGCONT');
    },
    surprises,
    killedAt,
    takeOutput,
    stopAll,
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      for (const app of running.values()) await end(app);
      await Promise.all(watches);
    },
  };
}

/**
 * Spreads Slack's requests over the processes that listen, each in turn, as load balancers do: what could not be connected goes to
 * the next process, what a process has begun to read is never sent to a second one.
 */
export async function startBalancer(running: () => readonly AppProcess[]) {
  let next = 0;
  const serve = async (incoming: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(incoming);
    const listening = running();
    next += 1;
    const first = next % listening.length;
    for (const { url } of [...listening.slice(first), ...listening.slice(0, first)]) {
      if (await isTaken(url, incoming, body, response)) return;
    }
    response.writeHead(503).end();
  };
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** False: nothing listens there. A process that ends before it answers has taken the request all the same. */
function isTaken(
  base: string,
  { url = '/', method = 'GET', headers }: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): Promise<boolean> {
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') return resolve(false);
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
      resolve(true);
    };
    const outgoing = request(new URL(url, base), { method, headers, agent: false }, (answer) => {
      buffer(answer).then((text) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers).end(text);
        resolve(true);
      }, fail);
    });
    outgoing.on('error', fail).end(body);
  });
}
