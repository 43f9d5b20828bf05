import { expect, test } from 'vitest';
import { createDoubtClock } from '../../../src/purchases/resolve.ts';

/** Processes whose monotonic clocks began at different times, and the order that they look for. */
function startLooking(processes: number) {
  let now = 0;
  let lookedMs = 0;
  const clocks = Array.from({ length: processes }, (_, at) =>
    createDoubtClock({ elapsed: () => now + at * 1_000_000 }),
  );
  return {
    look: (process: number, at: number) => {
      now = at;
      lookedMs += clocks[process]?.sinceLastLook({ id: 'order', lookedMs }) ?? 0;
      return lookedMs;
    },
    restart: (process: number) => {
      clocks[process] = createDoubtClock({ elapsed: () => now });
    },
  };
}

test('a doubt grows by the time between the looks of one process', () => {
  const { look } = startLooking(1);
  expect([0, 10, 25, 60].map((at) => look(0, at))).toEqual([0, 10, 25, 60]);
});

test('a restart adds nothing for the time in which no process looked', () => {
  const { look, restart } = startLooking(1);
  look(0, 0);
  look(0, 10);
  restart(0);
  expect([500, 530].map((at) => look(0, at))).toEqual([10, 40]);
});

test('processes that take turns let no doubt grow faster than time, and lose none of it', () => {
  const { look } = startLooking(3);
  let at = 0;
  for (let turn = 0; turn < 300; turn++) {
    at += 7;
    expect(look((turn * 2) % 3, at)).toBeLessThanOrEqual(at - 7);
  }
  expect(look(0, at + 7)).toBe(at);
});
