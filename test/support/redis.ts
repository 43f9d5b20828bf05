import { onTestFinished } from 'vitest';
import { hasRedis, prepareServer, type RedisServer } from './redis-server.ts';

export { hasRedis, type RedisServer } from './redis-server.ts';

// Where Redis is not installed, its tests are left out, but never where `CI` is set.
if (!hasRedis && process.env.CI === 'true')
  throw new Error('the tests need redis-server, which is not installed');
if (!hasRedis) process.stderr.write('No tests on Redis: redis-server is not installed\n');

/** Starts a server that is stopped after the test. */
export async function startRedis(...options: readonly string[]): Promise<RedisServer> {
  const server = await prepareRedis(...options);
  await server.start();
  return server;
}

/** A server that is not started yet, and is stopped after the test. */
export async function prepareRedis(...options: readonly string[]): Promise<RedisServer> {
  const server = await prepareServer(...options);
  onTestFinished(server.close);
  return server;
}
