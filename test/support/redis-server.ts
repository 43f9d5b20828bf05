import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';

/** Whether `redis-server` is installed. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

/** A Redis server that keeps nothing on disk, on a port of its own. */
export interface RedisServer {
  readonly url: string;
  /** For looking at it, and for telling it to do something else. */
  readonly client: Redis;
  /** Ends it; all that it knew is lost. */
  stop(): Promise<void>;
  /** Starts it again, on the same port. */
  start(): Promise<void>;
  /** Ends it and the client. */
  close(): Promise<void>;
}

/** A server that is not started yet: its address is known, and no process listens there. */
export async function prepareServer(...options: readonly string[]): Promise<RedisServer> {
  const port = await findFreePort();
  const url = `redis://127.0.0.1:${port}`;
  const client = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: null });
  client.on('error', () => undefined);
  let child: ChildProcess | undefined;
  const stop = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  const start = async () => {
    const settings = { port, bind: '127.0.0.1', save: '', appendonly: 'no', 'enable-debug-command': 'yes' };
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
    child = spawn('redis-server', [...args, ...options], { stdio: 'ignore' });
    while (!(await isListening(port))) await sleep(20);
  };
  const close = async () => {
    client.disconnect();
    await stop();
  };
  return { url, client, start, stop, close };
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}
