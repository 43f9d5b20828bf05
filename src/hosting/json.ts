/** A JSON number that JavaScript would alter: too long, or written in another way than JavaScript writes it. */
export class WrittenNumber {
  /** The number exactly as it stands in the JSON text. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** What `parseJson` returns for a text that is not JSON. */
export const NOT_JSON = Symbol('not JSON');

/**
 * Parses JSON without altering numbers: `12345678901234567890`, `0.10` and `1e400` become a `WrittenNumber`, since a
 * password or a price that a service writes without quotes must not be rounded. Undefined for an empty text. `NOT_JSON` also
 * for an object that names a field twice, of which JavaScript would silently take the last, and for more than 100 levels.
 */
export function parseJson(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (countWritten(text) !== countNames(value, MOST_DEPTH)) return NOT_JSON;
    if (!MAY_BE_ALTERED.test(text)) return value;
    return restore(JSON.parse(text.replace(STRING_OR_NUMBER, mark)));
  } catch {
    return NOT_JSON;
  }
}

/** Matches texts with numbers that need the slower parser. A cheap test that errs only on the safe side. */
const MAY_BE_ALTERED = /(?:^|[:,[\s])(?:-0|-?(?:\d{16,}|\d+[.eE][\d.eE+-]*))\s*(?:[,\]}]|$)/;

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** The deepest nesting that is read: real answers are shallow. */
const MOST_DEPTH = 100;

/** Counts the names of fields in a parsed value. @throws RangeError if it is nested too deeply */
function countNames(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (depth === 0) throw new RangeError('nested too deeply');
  let count = 0;
  if (Array.isArray(value)) for (const element of value) count += countNames(element, depth - 1);
  else for (const name in value) count += 1 + countNames(value[name as keyof typeof value], depth - 1);
  return count;
}

/** Counts the names of fields in a JSON text: more than in the parsed value if an object names a field twice. */
function countWritten(text: string): number {
  let count = 0;
  for (let open = text.indexOf('"'); open >= 0; ) {
    let close = text.indexOf('"', open + 1);
    while (isEscaped(text, close)) close = text.indexOf('"', close + 1);
    let after = close + 1;
    while (text.charCodeAt(after) <= 0x20) after++;
    if (text.charAt(after) === ':') count++;
    open = text.indexOf('"', close + 1);
  }
  return count;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charAt(at - 1 - backslashes) === '\\') backslashes++;
  return backslashes % 2 === 1;
}

/** Turns a number into a string, and marks each string by its first letter as one (`s`) or a number (`n`). */
function mark(token: string): string {
  return token.startsWith('"') ? `"s${token.slice(1)}` : `"n${token}"`;
}

/** Removes the marks of `mark` from a parsed value, and restores its numbers. */
function restore(value: unknown): unknown {
  if (typeof value === 'string')
    return value.startsWith('s') ? value.slice(1) : restoreNumber(value.slice(1));
  if (Array.isArray(value)) return value.map(restore);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name.slice(1), restore(field)]));
}

function restoreNumber(text: string): number | WrittenNumber {
  const value = Number(text);
  return String(value) === text ? value : new WrittenNumber(text);
}
