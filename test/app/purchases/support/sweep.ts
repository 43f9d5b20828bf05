import { isLong } from '../../../attacks/support/tries.ts';
import type { Fate } from './mortal-process.ts';
import { checkLaws, live, ORDERS, type Order } from './order.ts';
import { openScenario } from './scenario.ts';

/** One life with this fate, and another one that finds what is left. Whether the fate has struck, and where. */
async function survive(order: Order, fate: Fate, isPressedAgain: boolean): Promise<string | undefined> {
  const scenario = await openScenario();
  try {
    if (order.script) scenario.hosting.script(order.script);
    order.arrange?.(scenario);
    const first = scenario.start(fate);
    await live(first, order, scenario, true);
    const struckAt = first.isStruck() ? first.steps.at(-1) : undefined;
    await live(scenario.start(), order, scenario, isPressedAgain);
    await checkLaws(scenario, order, isPressedAgain || struckAt === undefined).catch((error: unknown) => {
      throw new Error(`${JSON.stringify(fate)} (${struckAt}): ${error}`, { cause: error });
    });
    return struckAt;
  } finally {
    await scenario.close();
  }
}

/**
 * `npm run test:attacks` tries every step; `npm test` only every twelfth one, to stay within its minutes: other ones for each
 * order, so that together they cover all that orders have in common.
 */
const STRIDE = isLong ? 1 : 12;

/** Tries the steps at which the fate can strike, until a run passes without it. */
export async function sweep(
  order: Order,
  fateAt: (at: number) => Fate,
  isPressedAgain: boolean,
): Promise<readonly string[]> {
  const tried: string[] = [];
  for (let at = 1 + (ORDERS.indexOf(order) % STRIDE); ; at += STRIDE) {
    const struckAt = await survive(order, fateAt(at), isPressedAgain);
    if (struckAt === undefined) return tried;
    tried.push(struckAt);
  }
}

/** The shortest order has this many steps: with fewer, the sweep would have lost sight of some. */
export const LEAST_STEPS = 24 / STRIDE;
