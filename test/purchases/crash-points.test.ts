import { describe, expect, test } from 'vitest';
import type { Fate } from './support/scenario.ts';
import { LEAST_STEPS, STORIES, sweep } from './support/stories.ts';

const killedAt = (at: number): Fate => ({ kind: 'killed', at });

/** Kills the process before and after every write, commit, request and notification, one run for each. */
describe.each(STORIES)('$name, in a process that is killed at any write or request', (story) => {
  test('happens at most once, and its outcome is reported', async ({ annotate }) => {
    const tried = await sweep(story, killedAt, false);
    await annotate(`${tried.length} crash points`);
    expect(tried.length).toBeGreaterThanOrEqual(LEAST_STEPS);
  });

  test('happens at most once when the button is pressed again after the crash', async ({ annotate }) => {
    const tried = await sweep(story, killedAt, true);
    await annotate(`${tried.length} crash points`);
    expect(tried.length).toBeGreaterThanOrEqual(LEAST_STEPS);
  });
});
