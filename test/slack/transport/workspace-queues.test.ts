import { describe, expect, test } from 'vitest';
import { createWorkspaceQueues } from '../../../src/slack/transport/workspace-queues.ts';

/** Time passes when the test says so. */
function makeQueues() {
  const sleepers: (() => void)[] = [];
  const queued = createWorkspaceQueues({ sleep: () => new Promise((resolve) => sleepers.push(resolve)) });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const start = (workspaceId: string, name: string) =>
    queued(workspaceId, () => {
      begun.push(name);
      return new Promise((resolve) => ends.set(name, resolve));
    });
  const rest = () => new Promise((resolve) => setImmediate(resolve));
  return {
    begun,
    start,
    end: (name: string) => [ends.get(name)?.(), rest()][1],
    passTime: () => [sleepers.splice(0).map((wake) => wake()), rest()][1],
    rest,
    queued,
  };
}

describe('the queues of workspaces', () => {
  test('begin a quiet workspace’s command at once, however many a noisy one has sent', async () => {
    const { start, begun, rest } = makeQueues();
    for (let nth = 0; nth < 1000; nth++) void start('noisy', `noisy ${nth}`);
    void start('quiet', 'quiet');
    await rest();
    expect(begun).toHaveLength(9);
    expect(begun).toContain('quiet');
  });

  test('begin all that a workspace sent, in its order, as others of it end', async () => {
    const { start, begun, end } = makeQueues();
    for (let nth = 0; nth < 30; nth++) void start('T1', String(nth));
    for (let nth = 0; nth < 30; nth++) await end(String(nth));
    expect(begun).toEqual(Array.from({ length: 30 }, (_, nth) => String(nth)));
  });

  test('go on when those before wait for an answer from elsewhere', async () => {
    const { start, begun, passTime, end } = makeQueues();
    for (let nth = 0; nth < 20; nth++) void start('T1', String(nth));
    expect(begun).toHaveLength(8);
    await passTime();
    expect(begun).toHaveLength(16);
    // Its turn was over before: it gives no second one away.
    await end('0');
    expect(begun).toHaveLength(16);
    await passTime();
    expect(begun).toHaveLength(20);
  });

  test('are given back by work that fails, whose error reaches its caller', async () => {
    const { queued } = makeQueues();
    for (let nth = 0; nth < 20; nth++)
      await expect(queued('T1', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(queued('T1', async () => undefined)).resolves.toBeUndefined();
  });
});
