import { setMaxListeners } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Exchange, serveApi } from './api.ts';
import { type HostingOptions, HostingService } from './hosting.ts';
import { reportFailure } from './journal.ts';

// Longer than a pause inside a test: an idle connection closed under a paid request would look like a lost one.
const KEEP_ALIVE_MS = 60_000;

export type Hosting = Awaited<ReturnType<typeof startHosting>>;

/** Starts the hosting service (docs/hosting-api.md) on 127.0.0.1. @throws the socket's own error when the port is taken */
export async function startHosting(options: HostingOptions = {}) {
  const service = new HostingService(options);
  const closing = new AbortController();
  // Every request that is answered late listens.
  setMaxListeners(0, closing.signal);
  const httpServer = createServer(async (request, response) => {
    try {
      await serveApi(service, closing.signal, new Exchange(request, response, service));
    } catch (error) {
      giveUp(error, request, response, closing.signal);
    }
  });
  httpServer.keepAliveTimeout = KEEP_ALIVE_MS;
  const port = await listen(httpServer, options.port ?? 0);
  /** Stops listening and destroys every connection at once, answered or not. */
  const close = async (): Promise<void> => {
    closing.abort();
    await new Promise<void>((resolve) => {
      // Closing twice is not an error.
      httpServer.close(() => resolve());
      httpServer.closeAllConnections();
    });
  };
  return Object.assign(service, {
    port,
    /** The base address of the API, version included, without a slash at the end. */
    baseUrl: `http://127.0.0.1:${port}/v1`,
    close,
    [Symbol.asyncDispose]: close,
  });
}

async function listen(httpServer: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    httpServer.once('error', reject);
    httpServer.listen(port, '127.0.0.1', resolve);
  });
  const address = httpServer.address();
  return typeof address === 'object' && address ? address.port : port;
}

/** Ends a request that threw: cut off by the caller, or by our closing, or by a fault of our own code. */
function giveUp(
  error: unknown,
  request: IncomingMessage,
  response: ServerResponse,
  closing: AbortSignal,
): void {
  if (!request.destroyed && !closing.aborted) reportFailure('The sandbox hosting service failed', error);
  if (response.headersSent || request.destroyed) request.socket.destroy();
  else response.writeHead(500, { 'content-type': 'text/plain' }).end('Internal Server Error');
}
