import { describe, expect, test } from 'vitest';
import { isLong } from '../support/tries.ts';
import type { Fate } from './support/scenario.ts';
import { LEAST_STEPS, STORIES, sweep } from './support/stories.ts';

const killedAt = (at: number): Fate => ({ kind: 'killed', at });

/** Kills the process before and after every write, commit, request and notification, one run for each. */
describe.each(STORIES)('$name, in a process that is killed at any write or request', (story) => {
  // The button is pressed again after every second crash; the long form tries each with and without that.
  test.each(isLong ? [0, 1] : [0])('happens at most once, and its outcome is reported (%i)', async (turn) => {
    const tried = await sweep(story, killedAt, (before) => before % 2 === turn);
    expect(tried.length).toBeGreaterThanOrEqual(LEAST_STEPS);
  });
});
