import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Secret } from '../core/secret.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { Log } from '../log.ts';
import type { Installer } from '../slack/tokens.ts';
import type { System } from '../system.ts';
import { type ConnectParts, serveConnect } from './connect.ts';
import { isInstallPath, serveInstall } from './install.ts';
import { hasToken, type Metrics } from './metrics.ts';
import { answer, answerPage } from './page.ts';

interface WebParts extends ConnectParts {
  /** Absent if the app serves the one workspace of `SLACK_BOT_TOKEN`. */
  readonly installer?: Installer | undefined;
  readonly system: System;
  readonly log: Log;
  readonly metrics: Metrics;
  /** If absent, there is no `/metrics`. */
  readonly metricsToken?: Secret<string> | undefined;
  /** Handles what is posted to `/slack/events`; absent in Socket Mode. */
  readonly slack?: RequestListener | undefined;
  /** Lists what prevents the app from working, for `/readyz`; empty if it is ready. */
  readonly faults: () => Promise<readonly string[]>;
  /** Lists what the operator should know although the app works (docs/design.md 8.6). */
  readonly warnings: () => readonly string[];
}

/**
 * Slack sends small requests over few connections, and a proxy holds some open. Each connection may have a body of 512 KiB in
 * memory (`slack/http-receiver.ts`), all together 200 MiB. Times in milliseconds.
 */
const LIMITS = {
  requestTimeout: 10_000,
  headersTimeout: 5000,
  keepAliveTimeout: 65_000,
  /** How often the server looks for connections whose time is over. */
  connectionsCheckingInterval: 1000,
  mostConnections: 400,
};

/**
 * Creates the app's HTTP server, for Slack's requests and the app's own pages (docs/design.md 8.2). It answers every request, on
 * any path, and no unauthenticated request can stop the process. `listen` starts it.
 */
export function createWebServer(parts: WebParts, limits: Partial<typeof LIMITS> = {}): Server {
  const { mostConnections, ...timeouts } = { ...LIMITS, ...limits };
  const server = createServer(timeouts);
  keepRoom(server, mostConnections, parts);
  server.on('request', (request, response) => {
    // While the app stops, closes each connection after its answer, so that the next process gets the following requests.
    if (!server.listening) response.setHeader('connection', 'close');
    const path = pathOf(request);
    // Bolt throws for any other method on its path, which would end the process.
    if (parts.slack && path === '/slack/events' && request.method === 'POST') {
      countAck(request, response, parts);
      return parts.slack(request, response);
    }
    serve(path, request, response, parts).catch((error: unknown) => {
      if (request.destroyed && !request.complete) return; // the client hung up, which is no defect
      const words = parts.explain(error); // logs it with an incident id
      if (!response.headersSent) answer(response, 500, 'text/plain; charset=utf-8', `${words}\n`);
      else response.destroy();
    });
  });
  // A client that leaves its half of the connection open must not keep the other half open.
  server.on('clientError', (_error, socket) => {
    if (!socket.writable) return socket.destroy();
    return socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n', () => socket.destroy());
  });
  return server;
}

/** Counts how long a request of Slack took to be acknowledged. One that Slack hung up on has no other status yet. */
function countAck(request: IncomingMessage, response: ServerResponse, { system, metrics }: WebParts): void {
  const since = system.elapsed();
  response.once('close', () => {
    if (request.complete && response.statusCode === 200) metrics.slackAck(system.elapsed() - since);
  });
}

/**
 * Closes the oldest unfinished connection if there is no room for another one, since anyone can open connections without using
 * them. A connection is unfinished unless a request over it has arrived completely and isn't answered yet.
 */
function keepRoom(server: Server, mostConnections: number, { system, log }: WebParts): void {
  server.maxConnections = mostConnections;
  /** The connections, each with its latest request; those that have been idle the longest come first. */
  const open = new Map<Socket, IncomingMessage | undefined>();
  let warnedAt = Number.NEGATIVE_INFINITY;
  const makeRoom = () => {
    const [oldest] = [...open].find(([, request]) => !request?.complete) ?? [];
    oldest?.destroy();
    if (system.elapsed() - warnedAt < MINUTE_MS) return;
    warnedAt = system.elapsed();
    log.warn('too many connections at once: closing those that have sent no complete request', {
      connections: open.size,
    });
  };
  const note = (socket: Socket, request?: IncomingMessage) => {
    open.delete(socket);
    if (!socket.destroyed) open.set(socket, request);
  };
  server.on('connection', (socket) => {
    // Makes room for the next connection.
    if (open.size >= mostConnections - 1) makeRoom();
    note(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.on('drop', makeRoom);
  server.on('request', (request, response) => {
    note(request.socket, request);
    response.once('close', () => note(request.socket));
  });
}

async function serve(
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  parts: WebParts,
): Promise<void> {
  const token = /^\/connect\/([\w-]{1,100})$/.exec(path)?.[1];
  if (token !== undefined) return serveConnect(request, response, token, parts);
  const { installer } = parts;
  if (installer && isInstallPath(path)) return serveInstall(path, request, response, installer);
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return answer(response, Object.hasOwn(plainPages, path) ? 405 : 404, 'text/plain', 'not possible\n');
  }
  if (path === '/') return answerPage(response, 404, 'Nothing to see here', ROOT_WORDS);
  const page = Object.hasOwn(plainPages, path) ? plainPages[path] : undefined;
  if (!page) return notFound(response);
  return page(response, parts, request);
}

const ROOT_WORDS = '<p>This is the address of a Slack app. To use it, type <code>/vps</code> in Slack.</p>';

type PlainPage = (response: ServerResponse, parts: WebParts, request: IncomingMessage) => Promise<void>;

const plainPages: Readonly<Record<string, PlainPage>> = {
  '/livez': async (response) => answer(response, 200, 'text/plain', 'ok\n'),
  '/readyz': async (response, { faults, warnings }) => {
    const found = await faults();
    const lines = [...(found.length === 0 ? ['ok'] : found), ...warnings()];
    answer(response, found.length === 0 ? 200 : 503, 'text/plain; charset=utf-8', `${lines.join('\n')}\n`);
  },
  '/metrics': async (response, { metrics, metricsToken }, { headers }) => {
    if (!metricsToken) return notFound(response);
    if (!hasToken(headers.authorization, metricsToken))
      return answer(response, 401, 'text/plain', TOKEN_NEEDED, { 'www-authenticate': 'Bearer' });
    answer(response, 200, metrics.contentType, await metrics.text());
  },
};

const TOKEN_NEEDED = '/metrics needs the header "Authorization: Bearer …" with METRICS_TOKEN.\n';

function notFound(response: ServerResponse): void {
  answer(response, 404, 'text/plain', 'not found\n');
}

/** Returns the path of a request. Cut out by hand, since `URL` throws for `GET //` and the like. */
function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0] ?? '/';
}

/** Starts a server; resolves with its port. @throws Error with `code: 'EADDRINUSE'` and the like */
export async function listen(server: Server, port: number, host: string): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

export function watchRequests(server: Server) {
  const open = new Map<ServerResponse, IncomingMessage>();
  server.on('request', (request, response) => {
    open.set(response, request);
    response.once('close', () => open.delete(response));
  });
  const findWhole = () => [...open].find(([, request]) => request.complete)?.[0];
  return {
    /**
     * Resolves when every request that has arrived completely is answered, or its client has hung up. Does not wait for a request
     * that is still arriving, which can take any time.
     */
    answered: async (): Promise<void> => {
      for (let response = findWhole(); response; response = findWhole())
        await new Promise((resolve) => response?.once('close', resolve));
    },
  };
}
