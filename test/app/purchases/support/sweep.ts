import { isLong } from '../../../attacks/support/tries.ts';
import { arrangeDelete, checkDeleteLaws, DELETES, liveDelete } from './delete-story.ts';
import type { Fate, MortalProcess } from './mortal-process.ts';
import { checkLaws, live, ORDERS } from './order.ts';
import { openScenario, type Scenario } from './scenario.ts';

/** What users do, and what has to be true in the end. */
interface Story {
  readonly name: string;
  arrange(scenario: Scenario): Promise<void>;
  /** All that one process lives to see of it. */
  live(process: MortalProcess, scenario: Scenario, isPressed: boolean): Promise<void>;
  checkLaws(scenario: Scenario, isCertain: boolean): Promise<void>;
}

export const STORIES: readonly Story[] = [
  ...ORDERS.map((order) => ({
    name: order.name,
    arrange: async (scenario: Scenario) => {
      if (order.script) scenario.hosting.script(order.script);
      order.arrange?.(scenario);
    },
    live: (process: MortalProcess, scenario: Scenario, isPressed: boolean) =>
      live(process, order, scenario, isPressed),
    checkLaws: (scenario: Scenario, isCertain: boolean) => checkLaws(scenario, order, isCertain),
  })),
  ...DELETES.map((story) => ({
    name: story.name,
    arrange: async (scenario: Scenario) => {
      if (story.script) scenario.hosting.script(story.script);
      await arrangeDelete(story.way, scenario);
    },
    live: (process: MortalProcess, scenario: Scenario, isPressed: boolean) =>
      liveDelete(process, story, scenario, isPressed),
    checkLaws: checkDeleteLaws,
  })),
];

/** One life with this fate, and another one that finds what is left. Whether the fate has struck, and where. */
async function survive(story: Story, fate: Fate, isPressedAgain: boolean): Promise<string | undefined> {
  const scenario = await openScenario();
  try {
    await story.arrange(scenario);
    const first = scenario.start(fate);
    await story.live(first, scenario, true);
    const struckAt = first.isStruck() ? first.steps.at(-1) : undefined;
    await story.live(scenario.start(), scenario, isPressedAgain);
    await story.checkLaws(scenario, isPressedAgain || struckAt === undefined).catch((error: unknown) => {
      throw new Error(`${JSON.stringify(fate)} (${struckAt}): ${error}`, { cause: error });
    });
    return struckAt;
  } finally {
    await scenario.close();
  }
}

/**
 * `npm run test:attacks` tries every step; `npm test` only every twelfth one, to stay within its minutes: other ones for each
 * story, so that together they cover all that stories have in common.
 */
const STRIDE = isLong ? 1 : 12;

/** Tries the steps at which the fate can strike, until a run passes without it. */
export async function sweep(
  story: Story,
  fateAt: (at: number) => Fate,
  isPressedAgain: boolean,
): Promise<readonly string[]> {
  const tried: string[] = [];
  for (let at = 1 + (STORIES.indexOf(story) % STRIDE); ; at += STRIDE) {
    const struckAt = await survive(story, fateAt(at), isPressedAgain);
    if (struckAt === undefined) return tried;
    tried.push(struckAt);
  }
}

/** The shortest story has this many steps: with fewer, the sweep would have lost sight of some. */
export const LEAST_STEPS = 24 / STRIDE;
