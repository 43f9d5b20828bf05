/** The pattern of a grant that is not limited to certain servers. */
export const EVERY_SERVER = '';

const MOST_CHARACTERS = 100;

/** Whether a label matches a pattern, ignoring case: `*` stands for any characters, `\` escapes the next one. */
export function matchesPattern(pattern: string, label: string): boolean {
  if (pattern === EVERY_SERVER) return true;
  const tokens = pattern.toLowerCase().match(/\\.|./gsu) ?? [];
  const letters = [...label.toLowerCase()];
  let token = 0;
  let letter = 0;
  let star: { token: number; letter: number } | undefined;
  // Backtracks to the last star only, so that no pattern takes long.
  while (letter < letters.length) {
    const wanted = tokens[token];
    if (wanted === '*') {
      star = { token: token++, letter };
    } else if (wanted !== undefined && literalOf(wanted) === letters[letter]) {
      token++;
      letter++;
    } else if (star) {
      token = star.token + 1;
      letter = ++star.letter;
    } else {
      return false;
    }
  }
  return tokens.slice(token).every((rest) => rest === '*');
}

/** The pattern that matches only this label; throws for an empty one, which would match every server. */
export function exactPattern(label: string): string {
  if (label === '') throw new Error('no pattern fits an empty label alone');
  return label.replace(/[\\*]/g, '\\$&');
}

/** Reads a typed pattern; undefined if it is invalid. `*` alone means every server. */
export function findPattern(typed: string): string | undefined {
  const pattern = typed.trim();
  if (pattern === '' || [...pattern].length > MOST_CHARACTERS || /\p{Cc}/u.test(pattern)) return undefined;
  return /^\*+$/.test(pattern) ? EVERY_SERVER : pattern;
}

function literalOf(token: string): string {
  return token.length > 1 && token.startsWith('\\') ? token.slice(1) : token;
}
