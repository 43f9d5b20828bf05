import { findPattern, matchesPattern } from './label-pattern.ts';
import { isDeleted, type Server } from './server.ts';
import { bareName, foldName } from './typed-name.ts';

/** Whether a name that was typed stands for many: `*` without a `\` before it. */
export function isPattern(typed: string): boolean {
  return /(?:^|[^\\])(?:\\\\)*\*/.test(typed);
}

/** The servers whose labels match a pattern; if none does, those that match it as phones write it. */
export function matchPattern(typed: string, servers: readonly Server[]): readonly Server[] {
  const listed = servers.filter((server) => !isDeleted(server));
  const written = findPattern(typed);
  if (written === undefined) return [];
  const matches = listed.filter(({ label }) => matchesPattern(written, label));
  if (matches.length > 0) return matches;
  const bare = findPattern(bareName(typed)) ?? written;
  return listed.filter(({ label }) => matchesPattern(bare, foldName(label)));
}
