import { afterAll, describe, expect, test } from 'vitest';
import { STORIES, type Story, tryCrash } from './support/crash-stories.ts';
import { isLong } from './support/tries.ts';

/** Each try starts two processes and lets them settle. The long form tries every point. */
const PATIENCE = { timeout: 3_600_000 };
const AT_ONCE = 2;

const tried: { readonly name: string; readonly count: number; readonly all: number }[] = [];

afterAll(() => {
  const sum = (of: 'count' | 'all') => tried.reduce((total, story) => total + story[of], 0);
  const each = tried.map(({ name, count }) => `${name}: ${count}`).join(', ');
  process.stdout.write(`${sum('count')} crash points tried of ${sum('all')} (${each})\n`);
});

/** All points, or one: another one for each story. */
function choosePoints(all: number, { after }: Story): readonly number[] {
  return isLong ? Array.from({ length: all }, (_, at) => at + 1) : [Math.ceil(after * all)];
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
