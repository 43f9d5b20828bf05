import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';

/** Finds three free ports in a row, as the sandbox takes them; returns the first. */
export async function findThreePorts(): Promise<number> {
  for (;;) {
    const first = await tryPort(0);
    if (first === undefined || first > 65_000) continue;
    const others = await Promise.all([tryPort(first + 1), tryPort(first + 2)]);
    if (others.every((port) => port !== undefined)) return first;
  }
}

async function tryPort(port: number): Promise<number | undefined> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  } catch {
    return undefined;
  } finally {
    server.close();
  }
}
