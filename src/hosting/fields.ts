import { findMoney, type Money } from '../core/money.ts';

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : NO_FIELDS;
}

const NO_FIELDS: Fields = {};

/** Whether a value is a JSON object, not an array or a number. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A string, number, boolean or null, wherever it stands in an answer. */
export interface Leaf {
  /** The name of the field that holds it, perhaps in an array; '' outside of every object. */
  readonly name: string;
  /** The words of all names on the way to it, in lower case: `meta: { nextPage }` is `meta next page`. */
  readonly words: readonly string[];
  readonly value: unknown;
}

/** Lists all leaves of a value. Recursive: answers are at most a hundred levels deep (`parseJson`). */
export function listLeaves(value: unknown, name = '', words: readonly string[] = []): Leaf[] {
  if (Array.isArray(value)) return value.flatMap((element) => listLeaves(element, name, words));
  if (!isFields(value)) return [{ name, words, value }];
  return Object.entries(value).flatMap(([inner, field]) =>
    listLeaves(field, inner, [...words, ...wordsOf(inner)]),
  );
}

/** Splits a name into its words, in lower case: `nextPage`, `next_page` and `Next-Page` become `next`, `page`. */
export function wordsOf(name: string): string[] {
  const spaced = name.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').toLowerCase();
  return spaced.split(/[^a-z\d]+/).filter((word) => word !== '');
}

/** Whether a value is absent, empty, false or 0, in any notation. */
export function isEmpty(value: unknown): boolean {
  const text = String(value ?? '').trim();
  return /^(?:|0|0\.0+|false|null)$/i.test(text);
}

export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

/**
 * Reads a non-negative whole number, quoted or not. Undefined for `007`, `7.5` and everything above 2^53, which
 * JavaScript would round to another server's number.
 */
export function findWhole(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^(?:0|[1-9]\d{0,15})$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

/** Reads a text, or a whole number as one; undefined for anything else, and if bytes of the text were damaged. */
export function findText(value: unknown): string | undefined {
  // JavaScript may have altered any other number.
  if (Number.isSafeInteger(value)) return String(value);
  return typeof value === 'string' && isIntact(value) ? value : undefined;
}

/** Whether a text has no damaged bytes and no half characters. The first test is fast, for thousands of labels. */
function isIntact(text: string): boolean {
  return !/[\uFFFD\uD800-\uDFFF]/.test(text) || !/[\uFFFD\p{Surrogate}]/u.test(text);
}

/**
 * Reads a price: a string with exactly two decimals (docs/hosting-api.md 2.11). `1.500` may be one and a half, or fifteen hundred, and
 * a number doesn't say how many decimals it was written with.
 */
export function findPrice(value: unknown): Money | undefined {
  const text = typeof value === 'string' ? value.trim() : '';
  return /^\d{1,12}\.\d{2}$/.test(text) ? findMoney(text) : undefined;
}

const ISO_TIME =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ]((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?))? ?(Z|[+-](?:0\d|1[0-4]):?[0-5]\d)?$/i;

/**
 * Reads an ISO 8601 time as epoch milliseconds, in UTC if it has no zone (docs/hosting-api.md 2.11). Undefined for days that
 * don't exist, and for years before 2000, which stand for "never" or for a mistake.
 */
export function findTime(value: unknown): number | undefined {
  const match = typeof value === 'string' ? ISO_TIME.exec(value.trim()) : null;
  if (!match) return undefined;
  const [, year, month, day, time = '00:00', zone = 'Z'] = match;
  if (Number(year) < 2000 || !isInMonth(Number(day), Number(year), Number(month))) return undefined;
  const at = Date.parse(`${year}-${month}-${day}T${time}${withColon(zone.toUpperCase())}`);
  return Number.isNaN(at) ? undefined : at;
}

function isInMonth(day: number, year: number, month: number): boolean {
  return day <= 28 || day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function withColon(zone: string): string {
  if (zone === 'Z') return zone;
  return zone.replace(/^([+-]\d\d):?(\d\d)$/, '$1:$2');
}

/** What `parseJson` returns for a text that is not JSON. */
export const NOT_JSON = Symbol('not JSON');

/**
 * Parses JSON; undefined for an empty text. `NOT_JSON` also for an object that names a field twice, of which JavaScript would
 * silently take the last, and for more than 100 levels.
 */
export function parseJson(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return countWritten(text) === countNames(value, MOST_DEPTH) ? value : NOT_JSON;
  } catch {
    return NOT_JSON;
  }
}

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
