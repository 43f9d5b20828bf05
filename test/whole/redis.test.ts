import { describe, expect, test } from 'vitest';
import { postgresUrl } from '../support/postgres.ts';
import { startProcess } from '../support/process.ts';
import { hasRedis, prepareRedis } from '../support/redis.ts';
import { startTeam } from '../support/team.ts';

const WORDS =
  'Redis can’t be used: the app continues without it, and shares the rate limit over the database alone';

describe.skipIf(!hasRedis || !postgresUrl)('a whole app whose Redis', () => {
  test('is gone stays ready and says so, once; then Redis comes back, and it stops at once', async () => {
    const redis = await prepareRedis('--requirepass', 'canary-password');
    await using team = await startTeam({ engine: 'postgres' });
    const REDIS_URL = redis.url.replace('redis://', 'redis://:canary-password@');
    await using app = await startProcess({ ...team.environment, REDIS_URL, MAX_PROCESSES: '8' });
    const readyz = async () => {
      const response = await fetch(`${app.url}/readyz`);
      return `${response.status} ${await response.text()}`;
    };
    await expect.poll(readyz).toBe(`200 ok\n${WORDS}\n`);
    await redis.start();
    await expect.poll(readyz).toBe('200 ok\n');
    await redis.stop();
    await expect.poll(readyz).toBe(`200 ok\n${WORDS}\n`);
    const said = () =>
      app
        .output()
        .split('\n')
        .filter((line) => line.includes('Redis'));
    // What a process writes may arrive after what it answers.
    await expect.poll(said).toHaveLength(3);
    expect(app.output()).not.toContain('canary-password');
    const startedAt = performance.now();
    expect(await app.stop()).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(said()).toHaveLength(3);
  });
});
