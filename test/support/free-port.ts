import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** A port that no process listens on right now, for a program that has to keep it when it is started again. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
