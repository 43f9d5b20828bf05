import { describe, expect, test } from 'vitest';
import type { Fate } from './support/scenario.ts';
import { LEAST_STEPS, STORIES, sweep } from './support/stories.ts';

const failsFor =
  (forMs: number) =>
  (at: number): Fate => ({ kind: 'database_fails', at, forMs });

/** Lets the database fail before every statement and around every commit, whose outcome is unknown then; one run for each. */
describe.each(STORIES)('$name, while the database fails', (story) => {
  test.each([
    ['one statement fails, or a commit of which nobody hears', 0],
    ['every statement fails for 20 seconds, from any one on', 20_000],
  ])('happens at most once, and its outcome is reported, when %s', async (_words, forMs) => {
    const tried = await sweep(story, failsFor(forMs), () => true);
    expect(tried.length).toBeGreaterThanOrEqual(LEAST_STEPS);
  });
});
