import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Spreads Slack's requests over the processes that listen, each in turn. */
export interface Balancer extends AsyncDisposable {
  readonly url: string;
  /** Requests that no process took, and those whose process ended before it answered. */
  counts(): { readonly passed: number; readonly untaken: number; readonly cutOff: number };
}

/**
 * As load balancers do: what could not be connected goes to the next process, what a process has begun to read is never
 * sent to a second one.
 */
export async function startBalancer(list: () => readonly string[]): Promise<Balancer> {
  const counted = { passed: 0, untaken: 0, cutOff: 0 };
  let next = 0;
  const serve = async (incoming: IncomingMessage, response: ServerResponse) => {
    const body = await readAll(incoming);
    const listening = list();
    next += 1;
    const inTurn = listening.map((_, at) => listening[(at + next) % listening.length] ?? '');
    for (const base of inTurn) {
      const outcome = await pass(base, incoming, body, response);
      if (outcome === 'refused') continue;
      counted[outcome] += 1;
      return;
    }
    counted.untaken += 1;
    response.writeHead(503).end();
  };
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts: () => ({ ...counted }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function readAll(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function pass(
  base: string,
  { url = '/', method = 'GET', headers }: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): Promise<'passed' | 'refused' | 'cutOff'> {
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') return resolve('refused');
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
      resolve('cutOff');
    };
    const outgoing = request(new URL(url, base), { method, headers, agent: false }, (answer) => {
      readAll(answer).then((text) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers).end(text);
        resolve('passed');
      }, fail);
    });
    outgoing.on('error', fail).end(body);
  });
}
