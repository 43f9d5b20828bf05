import { findPattern, matchesPattern } from './label-pattern.ts';
import { isDeleted, type Server } from './server.ts';
import { filterInSteps, type Steps } from './steps.ts';
import { bareName, foldName } from './typed-name.ts';

/** Whether a name that was typed stands for many: `*` without a `\` before it. */
export function isPattern(typed: string): boolean {
  return /(?:^|[^\\])(?:\\\\)*\*/.test(typed);
}

/** The servers whose labels match a pattern; if none does, those that match it as phones write it. With pauses. */
export function* matchPatternInSteps(typed: string, servers: readonly Server[]): Steps<readonly Server[]> {
  const listed = servers.filter((server) => !isDeleted(server));
  const written = findPattern(typed);
  if (written === undefined) return [];
  const matches = yield* filterInSteps(listed, ({ label }) => matchesPattern(written, label));
  if (matches.length > 0) return matches;
  const bare = findPattern(bareName(typed)) ?? written;
  return yield* filterInSteps(listed, ({ label }) => matchesPattern(bare, foldName(label)));
}
