import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** The requests that a server has not answered yet. */
export interface OpenRequests {
  /**
   * Resolves when every request that has arrived whole is answered, or its client has hung up. One that is still arriving
   * is not waited for: it could take as long as it likes.
   */
  answered(): Promise<void>;
}

export function watchRequests(server: Server): OpenRequests {
  const open = new Map<ServerResponse, IncomingMessage>();
  server.on('request', (request, response) => {
    open.set(response, request);
    response.once('close', () => open.delete(response));
  });
  const findWhole = () => [...open].find(([, request]) => request.complete)?.[0];
  return {
    answered: async () => {
      for (let response = findWhole(); response; response = findWhole()) await closeOf(response);
    },
  };
}

function closeOf(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('close', resolve);
  });
}
