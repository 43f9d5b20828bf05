import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLoopbackHost, readBody, sendJson, sendText } from './http.ts';
import { answerAuthorize } from './oauth.ts';
import { answerPage } from './page.ts';
import { answerReplyPost } from './reply-urls.ts';
import { answerWebCall, findWorld } from './web-api/call.ts';
import { answerWorkflows } from './workflows.ts';
import type { Team } from './workspace.ts';
import { createWorld, type SlackOptions, type World, type Worlds, wallClock } from './world.ts';

export type SlackServer = Awaited<ReturnType<typeof serveSlack>>;

/** Starts a local Slack with one workspace on the loopback address. */
export async function serveSlack(options: SlackOptions) {
  const clock = options.clock ?? wallClock;
  let url = '';
  const world = createWorld(options, clock, () => url);
  const worlds: [World, ...World[]] = [world];
  const server = createSlackServer(worlds, options.pages);
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    /** `http://127.0.0.1:1234` */
    url,
    world,
    /** Adds another workspace, in which users can install the same app; it has namesakes of all users and channels. */
    addTeam: (team: Team): World => {
      const added = createWorld(options, clock, () => url, { team, first: world });
      worlds.push(added);
      return added;
    },
    stop: async () => {
      if (!server.listening) return;
      for (const { deliverer } of worlds) deliverer.abort();
      world.sockets.drop();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Serves the paths that the local Slack does not: the files of the page. */
export type Pages = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown;

/**
 * Makes the HTTP server of these workspaces: Web API, response_urls, installs, WebSockets of the app; and of the first
 * one the page's API.
 */
function createSlackServer(worlds: Worlds, pages: Pages | undefined): Server {
  const server = createServer((incoming, outgoing) => {
    route(worlds, incoming, outgoing, pages).catch((error: unknown) => {
      if (!outgoing.headersSent) sendText(outgoing, 500, String(error));
      else outgoing.destroy();
    });
  });
  server.on('upgrade', (incoming, socket, head) => {
    if (isLoopbackHost(incoming)) worlds[0].sockets.upgrade(incoming, socket, head);
    else socket.destroy();
  });
  return server;
}

async function route(
  worlds: Worlds,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  pages: Pages | undefined,
): Promise<void> {
  if (!isLoopbackHost(incoming)) return sendText(outgoing, 403, 'only on this machine');
  const [first] = worlds;
  const [path = '/', query = ''] = (incoming.url ?? '/').split('?');
  if (path.startsWith('/api/')) return answerApi(worlds, incoming, outgoing, path.slice(5), query);
  if (path.startsWith('/reply/')) {
    const world = worlds.find(({ team }) => path.startsWith(`/reply/${team.id}/`)) ?? first;
    return answerReply(world, incoming, outgoing, path);
  }
  if (path === '/oauth/v2/authorize')
    return answerAuthorize(worlds, incoming, outgoing, new URLSearchParams(query));
  if (path === '/workflows') return answerWorkflows(first, incoming, outgoing);
  if (path.startsWith('/page/'))
    return answerPage(first, incoming, outgoing, path, new URLSearchParams(query));
  if (pages) return void (await pages(incoming, outgoing));
  return sendText(outgoing, 404, 'not found');
}

async function answerApi(
  worlds: Worlds,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  method: string,
  query: string,
): Promise<void> {
  const startedMs = performance.now();
  const body = await readBody(incoming);
  const { authorization = '', 'content-type': contentType = '' } = incoming.headers;
  const call = { method, query, body, authorization, contentType };
  const world = findWorld(worlds, call);
  const at = world.clock.now();
  await sleepUnlessNone(world.faults.delayMs(method));
  const answer = answerWebCall(world, worlds, call);
  // Slack's answers tell Slack's time.
  const date = new Date(world.clock.now()).toUTCString();
  if (world.faults.takeLostAnswer(method)) outgoing.destroy();
  else sendJson(outgoing, answer.status, answer.body, { date, ...answer.headers });
  world.journal.record({
    at,
    tookMs: Math.round(performance.now() - startedMs),
    from: 'app',
    what: method,
    request: body || query,
    status: answer.status,
    response: JSON.stringify(answer.body),
  });
}

async function answerReply(world: World, incoming: IncomingMessage, outgoing: ServerResponse, path: string) {
  const at = world.clock.now();
  const startedMs = performance.now();
  const request = await readBody(incoming);
  await sleepUnlessNone(world.faults.delayMs('response_url'));
  const { status, body } = answerReplyPost(world, path, request);
  sendText(outgoing, status, body);
  const tookMs = Math.round(performance.now() - startedMs);
  world.journal.record({ at, tookMs, from: 'app', what: 'response_url', request, status, response: body });
}

async function sleepUnlessNone(delayMs: number): Promise<void> {
  if (delayMs > 0) await sleep(delayMs);
}
