/** The pattern of a grant that is not limited to certain servers. */
export const EVERY_SERVER = '';

const MOST_CHARACTERS = 100;

/** Tells whether a label fits a pattern: `*` is any run of characters, `\` takes the next one as it is, any case. */
export function matchesPattern(pattern: string, label: string): boolean {
  if (pattern === EVERY_SERVER) return true;
  const tokens = pattern.toLowerCase().match(/\\.|./gsu) ?? [];
  const letters = [...label.toLowerCase()];
  let token = 0;
  let letter = 0;
  let star: { token: number; letter: number } | undefined;
  // Goes back to the last star alone, so that no pattern takes long.
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

/** The pattern that fits this label alone; there is none for an empty one, which would stand for every server. */
export function exactPattern(label: string): string {
  if (label === '') throw new Error('no pattern fits an empty label alone');
  return label.replace(/[\\*]/g, '\\$&');
}

/** Reads a pattern that somebody typed; undefined when it can't be one. `*` alone is every server. */
export function findPattern(typed: string): string | undefined {
  const pattern = typed.trim();
  if (pattern === '' || [...pattern].length > MOST_CHARACTERS || /\p{Cc}/u.test(pattern)) return undefined;
  return /^\*+$/.test(pattern) ? EVERY_SERVER : pattern;
}

function literalOf(token: string): string {
  return token.length > 1 && token.startsWith('\\') ? token.slice(1) : token;
}
