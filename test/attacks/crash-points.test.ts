import { afterAll, describe, expect, test } from 'vitest';
import { STORIES, type Story, tryCrash } from './support/crash-stories.ts';
import { triesOf } from './support/tries.ts';

/** Each try starts two processes and lets them settle. */
const PATIENCE = { timeout: 3_600_000 };
const TRIES = triesOf({ short: 1, long: Number.POSITIVE_INFINITY });
const AT_ONCE = 2;

const tried: { readonly name: string; readonly count: number; readonly all: number }[] = [];

afterAll(() => {
  const sum = (of: 'count' | 'all') => tried.reduce((total, story) => total + story[of], 0);
  const each = tried.map(({ name, count }) => `${name}: ${count}`).join(', ');
  process.stdout.write(`${sum('count')} crash points tried of ${sum('all')} (${each})\n`);
});

/** All points, or some that are spread over all: other ones for each story. */
function choosePoints(all: number, story: Story): readonly number[] {
  if (TRIES >= all) return Array.from({ length: all }, (_, at) => at + 1);
  const shift = (STORIES.indexOf(story) + 1) / (STORIES.length + 1);
  return Array.from({ length: TRIES }, (_, at) => Math.ceil(((at + shift) / TRIES) * all));
}

/** Kills a process of the app (`kill -9`) before and after every write and request, and starts another one. */
describe.each(STORIES)('an app that crashes during: $name', PATIENCE, (story) => {
  test('pays at most once, tells the outcome, and keeps the root password from others', async () => {
    const all = (await tryCrash(story, 0)).length;
    expect(all).toBeGreaterThan(20);
    const points = [...choosePoints(all, story)];
    const count = points.length;
    const work = async () => {
      for (let at = points.shift(); at !== undefined; at = points.shift()) await tryCrash(story, at);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    tried.push({ name: story.name, count, all });
  });
});
