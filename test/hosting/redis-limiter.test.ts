import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { sayLeftOut, triesOf } from '../attacks/support/tries.ts';
import { makePostgres } from '../store/support.ts';
import { postgresUrl } from '../support/postgres.ts';
import { hasRedis, prepareRedis, type RedisServer, startRedis } from '../support/redis.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { LIMIT, WINDOW_MS } from './redis-scale.ts';
import { type Member, startMember, startService } from './redis-support.ts';

const LOST = /^Redis can’t be used: the app continues without it/;
const BACK = /^Redis is back/;

async function startMembers(redisUrls: readonly string[]) {
  const service = await startService();
  const databaseUrl = await makePostgres();
  const members = await Promise.all(redisUrls.map((url) => startMember(databaseUrl, url, service)));
  return { service, members };
}

/** Three processes, of which each has a connection to the same Redis. */
async function startThree({ url }: RedisServer) {
  const started = await startMembers([url, url, url]);
  await sleep(500);
  return started;
}

const callAll = (members: readonly Member[], count: number) =>
  Promise.all(members.map((member) => member.call(count)));

/** How many calls Redis has admitted and not heard the end of. */
async function countAdmitted({ client }: RedisServer): Promise<number> {
  const keys = await client.keys('b_vps-slack-*_settings');
  const running = await Promise.all(keys.map((key) => client.hget(key, 'running')));
  return running.reduce((sum, count) => sum + Number(count), 0);
}

/** The queue is in use: what is admitted now is known to Redis. */
async function expectQueueInUse(redis: RedisServer, members: readonly Member[]): Promise<void> {
  await expect.poll(() => members.flatMap(({ warnings }) => warnings())).toEqual([]);
  await sleep(WINDOW_MS + 500);
  await callAll(members, 2);
  // More, where calls from before were answered late.
  expect(await countAdmitted(redis)).toBeGreaterThanOrEqual(2 * members.length);
}

describe.skipIf(!hasRedis || !postgresUrl)('several processes over Redis', () => {
  test('use the whole limit, never more, each its share, and ask the database once for each call', async () => {
    const redis = await startRedis();
    const { service, members } = await startThree(redis);
    const startedAt = performance.now();
    await callAll(members, 50);
    // Five windows' worth: the last ones leave four windows after the first, later only on a busy machine.
    const tookMs = performance.now() - startedAt;
    expect(service.arrivals).toHaveLength(150);
    expect(service.mostInAnyWindow()).toBeLessThanOrEqual(LIMIT);
    expect(tookMs).toBeLessThan(4 * WINDOW_MS * 5);
    const tries = members.reduce((sum, member) => sum + member.tries(), 0);
    expect(tries).toBeLessThan(180);
    expect(members.flatMap(({ log }) => log)).toEqual([]);
  });

  test('share it evenly while all of them wait', async () => {
    const redis = await startRedis();
    const { members } = await startThree(redis);
    void callAll(members, 100).catch(() => {});
    await expect
      .poll(() => members.reduce((sum, member) => sum + member.sent(), 0))
      .toBeGreaterThanOrEqual(90);
    for (const member of members) expect(member.sent()).toBeGreaterThanOrEqual(20);
  });

  test('keep nothing in Redis that names the account', async () => {
    const redis = await startRedis();
    const { members } = await startThree(redis);
    await callAll(members, 1);
    const keys = await redis.client.keys('*');
    expect(keys.filter((key) => !/^(b_vps-slack-[0-9a-f]{24}_[a-z_]+|vps-slack-probe)$/.test(key))).toEqual(
      [],
    );
    expect(keys.length).toBeGreaterThan(5);
    const expiries = await Promise.all(keys.map((key) => redis.client.pttl(key)));
    expect(expiries.filter((ms) => ms < 0)).toEqual([]);
  });
});

interface Disturbance {
  readonly name: string;
  readonly happens: (redis: RedisServer) => Promise<unknown>;
  /** Whether it lasts so long that it has to be told. */
  readonly isTold: boolean;
}

const ALL: readonly Disturbance[] = [
  { name: 'is flushed', isTold: false, happens: ({ client }) => client.flushall() },
  { name: 'is gone for a while', isTold: true, happens: restartLater },
  { name: 'stands still', isTold: true, happens: ({ client }) => client.call('debug', 'sleep', '2.5') },
  { name: 'is flushed again and again', isTold: false, happens: flushOften },
  { name: 'is restarted', isTold: false, happens: async (redis) => redis.stop().then(redis.start) },
  {
    name: 'takes no commands',
    isTold: true,
    happens: ({ client }) => client.call('client', 'pause', '2500', 'all'),
  },
  { name: 'is full', isTold: true, happens: fillUp },
  { name: 'becomes a replica', isTold: true, happens: becomeReplica },
];
// Each takes ten seconds.
const disturbances = ALL.slice(0, triesOf({ short: 2, long: ALL.length }));
sayLeftOut(ALL.length - disturbances.length, 'disturbances of Redis');

async function flushOften({ client }: RedisServer) {
  for (let round = 0; round < 20; round++) {
    await client.flushall();
    await sleep(150);
  }
}

async function restartLater(redis: RedisServer) {
  await redis.stop();
  await sleep(2500);
  await redis.start();
}

async function fillUp({ client }: RedisServer) {
  await client.config('SET', 'maxmemory', '1');
  await sleep(2500);
  await client.config('SET', 'maxmemory', '0');
}

async function becomeReplica({ client }: RedisServer) {
  await client.replicaof('127.0.0.1', 1);
  await sleep(2500);
  await client.replicaof('NO', 'ONE');
}

describe.skipIf(!hasRedis || !postgresUrl)('while calls run and wait, Redis', () => {
  test.each(disturbances)('$name: nothing hangs, the limit holds, the queue resumes by itself', async ({
    happens,
    isTold,
  }) => {
    const redis = await startRedis();
    const { service, members } = await startThree(redis);
    const answered = callAll(members, 30);
    await sleep(1000);
    await happens(redis);
    await answered;
    expect(service.arrivals).toHaveLength(90);
    expect(service.mostInAnyWindow()).toBeLessThanOrEqual(LIMIT);
    const first = service.arrivals[0] ?? 0;
    expect((service.arrivals.at(-1) ?? 0) - first).toBeLessThan(12 * WINDOW_MS);
    await expectQueueInUse(redis, members);
    expect(service.mostInAnyWindow()).toBeLessThanOrEqual(LIMIT);
    for (const { log } of members) {
      const told = [expect.stringMatching(LOST), expect.stringMatching(BACK)];
      // What is over within a second need not be told; on a slow machine it lasts longer.
      if (isTold || log.length > 0) expect(log).toEqual(told);
    }
  });

  test('is reachable for two processes and not for the third: the limit holds for all three', async () => {
    const redis = await startRedis();
    await using network = await startTcpProxy(redis.url);
    const { service, members } = await startMembers([network.url, redis.url, redis.url]);
    const [third, ...others] = members;
    if (!third) throw new Error('there is no third process');
    await sleep(500);
    const answered = callAll(members, 30);
    await sleep(1000);
    network.freeze();
    await answered;
    expect(service.arrivals).toHaveLength(90);
    expect(service.mostInAnyWindow()).toBeLessThanOrEqual(LIMIT);
    expect(third.log).toEqual([expect.stringMatching(/without it.*: no answer within 1000 ms$/)]);
    expect(others.flatMap(({ log }) => log)).toEqual([]);
    network.cut();
    network.mend();
    await expectQueueInUse(redis, members);
    expect(third.log).toEqual([expect.stringMatching(LOST), expect.stringMatching(BACK)]);
  });

  test('is not there yet when the app starts, or refuses its password: that is reported once, and calls are sent', async () => {
    const late = await prepareRedis();
    const locked = await startRedis('--requirepass', 'secret-of-redis');
    const wrong = locked.url.replace('redis://', 'redis://:canary-password@');
    const { service, members } = await startMembers([late.url, wrong]);
    await callAll(members, 5);
    expect(service.arrivals).toHaveLength(10);
    await expect.poll(() => members.map(({ log }) => log.length)).toEqual([1, 1]);
    await sleep(2000);
    expect(members[0]?.log).toEqual([expect.stringMatching(LOST)]);
    expect(members[1]?.log).toEqual([expect.stringMatching(/without it.*: WRONGPASS/)]);
    expect(JSON.stringify(members.map(({ log }) => log))).not.toContain('canary-password');
    await late.start();
    await expect.poll(() => members[0]?.warnings()).toEqual([]);
    expect(members[0]?.log).toHaveLength(2);
  });
});
