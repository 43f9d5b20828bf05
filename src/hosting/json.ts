import { mapInSteps, type Steps } from '../domain/steps.ts';

/** A number that JavaScript might alter: too long, with decimals, or with an exponent. */
export class WrittenNumber {
  /** The number exactly as written in the JSON text. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What `parseJson` returns for a text that is not JSON. */
export const NOT_JSON = Symbol('not JSON');

/**
 * Parses JSON without altering numbers: `12345678901234567890`, `0.10` and `1e400` become a `WrittenNumber`, since a
 * password or a price that a service writes without quotes must not be rounded. Undefined for an empty text. An object
 * that names a field twice is ambiguous, and JavaScript would silently take the last one: it is not read.
 */
export function* parseJson(text: string): Steps<unknown> {
  if (text.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (text.length <= MOST_CHECKED && namesTwice(text)) return NOT_JSON;
    if (!MAY_BE_ALTERED.test(text)) return value;
    yield;
    const marked = yield* markInSteps(text);
    yield;
    const parsed: unknown = JSON.parse(marked);
    yield;
    return Array.isArray(parsed)
      ? yield* mapInSteps(parsed, (element) => restore(element, MOST_DEPTH - 1))
      : restore(parsed, MOST_DEPTH);
  } catch {
    return NOT_JSON;
  }
}

/** Finds numbers that need the slower parser. A cheap test that errs only on the safe side. */
const MAY_BE_ALTERED = /(?:^|[:,[\s])(?:-0|-?(?:\d{16,}|\d+[.eE][\d.eE+-]*))\s*(?:[,\]}]|$)/;

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** Long lists are not checked for duplicate names: that would take longer than reading them. */
const MOST_CHECKED = 65_536;

const STRING_OR_BRACE = /"((?:[^"\\]|\\.)*)"\s*(:)?|[{}]/g;

function namesTwice(text: string): boolean {
  const open: Set<unknown>[] = [];
  for (const [token, written = '', colon] of text.matchAll(STRING_OR_BRACE)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (colon !== undefined) {
      const names = open.at(-1);
      const name: unknown = written.includes('\\') ? JSON.parse(`"${written}"`) : written;
      if (names?.has(name)) return true;
      names?.add(name);
    }
  }
  return false;
}

/** Real answers are shallow: anything nested deeper than this is not read. */
const MOST_DEPTH = 100;

/** How many strings and numbers one step takes: less than a millisecond. */
const MARKED_AT_ONCE = 1000;

function* markInSteps(text: string): Steps<string> {
  const parts: string[] = [];
  let from = 0;
  for (const { 0: token, index } of text.matchAll(STRING_OR_NUMBER)) {
    parts.push(text.slice(from, index), mark(token));
    from = index + token.length;
    if (parts.length % (2 * MARKED_AT_ONCE) === 0) yield;
  }
  return [...parts, text.slice(from)].join('');
}

/** Turns every number into a string; the first letter of each string says whether it was one before. */
function mark(token: string): string {
  return token.startsWith('"') ? `"s${token.slice(1)}` : `"n${token}"`;
}

/** Removes these marks again. @throws RangeError when it is nested too deeply */
function restore(value: unknown, depth: number): unknown {
  if (depth === 0) throw new RangeError('nested too deeply');
  if (typeof value === 'string')
    return value.startsWith('s') ? value.slice(1) : restoreNumber(value.slice(1));
  if (Array.isArray(value)) return value.map((element) => restore(element, depth - 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name.slice(1), restore(field, depth - 1)]),
  );
}

function restoreNumber(text: string): number | WrittenNumber {
  const value = Number(text);
  return String(value) === text ? value : new WrittenNumber(text);
}
