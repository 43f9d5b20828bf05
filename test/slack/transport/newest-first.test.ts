import { expect, test } from 'vitest';
import { createNewestFirst } from '../../../src/slack/queues.ts';
import { handClock, turn } from '../support/hand-clock.ts';

/** Work that ends when it is let go. */
function held() {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { end, wait: () => ended };
}

test('only the newest of the updates that wait for another one is shown', async () => {
  const line = createNewestFirst(handClock().system);
  const shown: string[] = [];
  const first = held();
  const show = (name: string) => async () => shown.push(name) > 0;
  void line.run('U1', () => first.wait().then(show('first')), 0);
  await turn();
  const waiting = ['second', 'third', 'last'].map((name) => line.run('U1', show(name), 0));
  void line.run('U2', show('another user’s'), 0);
  await turn();
  expect(shown).toEqual(['another user’s']);
  first.end();
  expect(await Promise.all(waiting)).toEqual([true, true, true]);
  expect(shown).toEqual(['another user’s', 'first', 'last']);
});

test('an update requested many times is shown once per interval, and a failure doesn’t block the next', async () => {
  const clock = handClock();
  const line = createNewestFirst(clock.system);
  let shown = 0;
  const show = async () => ++shown > 0;
  await expect(line.run('U1', () => Promise.reject(new Error('no')), 1000)).rejects.toThrow('no');
  for (let time = 0; time < 50; time++) void line.run('U1', show, 1000);
  await turn();
  expect(shown).toBe(0);
  const before = line.version('U1');
  await clock.pass(1000);
  expect(shown).toBe(1);
  expect(line.version('U1')).toBe(before + 1);
});
