import { isPattern } from './name-pattern.ts';
import type { ListExtent } from './server.ts';

/** What every surface says about a list with the extent `part`. */
export const PART_OF_LIST = 'The hosting API returned only part of the list.';

/** Says that no listed server matches a name. `named`: the name as the surface writes it. */
export function unmatchedWords(typed: string, named: string, extent: ListExtent = 'whole'): string {
  if (extent === 'whole') return `No server matches ${named}.`;
  if (extent === 'maybe_whole') return `No listed server matches ${named}, but some servers may be missing.`;
  return isPattern(typed)
    ? `No server in the part of the list we received matches ${named}, so we can’t tell whether one exists.`
    : `${named} isn’t in the part of the list we received, so we can’t tell whether it exists.`;
}
