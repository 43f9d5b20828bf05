import { API_CODES } from '../core/errors.ts';
import type { ReadableAnswer } from './endpoints.ts';
import {
  type Fields,
  fieldsOf,
  isAbsent,
  isEmpty,
  isFields,
  type Leaf,
  listLeaves,
  wordsOf,
} from './fields.ts';

// What a 2xx answer proves (docs/hosting-api.md 4.12). Only documented fields are proof; anything beside them can only take
// the proof away. Everything else is unclear, and unclear is safe.

/** The fields of the request: a code in the answer that only repeats one of them says nothing. */
export type Sent = Readonly<Record<string, string>> | undefined;

/** A 2xx answer doesn't prove the success that it claims. */
export class Unclear extends Error {
  readonly problem: 'unexpected' | 'carries_error';

  constructor(problem: Unclear['problem']) {
    super(problem);
    this.problem = problem;
  }
}

/**
 * Reads the answer to a change of one server: the object, or the one with the ID inside a wrapper or an array of one
 * (docs/hosting-api.md 4.12). What its documented fields prove is for the caller to decide.
 * @throws Unclear if anything in the answer takes away what its fields would prove
 */
export function readChange({ body, status }: ReadableAnswer, sent: Sent, serverId?: number) {
  const leaves = listLeaves(body);
  refuseContradiction(leaves, status, sent);
  for (const name of ['id', 'state', 'paid_until', 'root_password'])
    if (new Set(valuesOf(leaves, name)).size > 1) throw new Unclear('unexpected');
  const isOther = serverId !== undefined && valuesOf(leaves, 'id').some((id) => id !== String(serverId));
  const outer = takeOnly(body);
  if (isOther || !(isAbsent(outer) || isFields(outer))) throw new Unclear('unexpected');
  const [words, ...others] = new Set(
    leaves.flatMap(({ name, value }) => (WORDS.has(name) ? proseIn(value) : [])),
  );
  // Only the one sentence in an answer may be quoted.
  return { record: findRecord(fieldsOf(outer)), words: others.length === 0 ? words : undefined };
}

/** The fields whose sentences are quoted: any other field may hold a secret with a blank in it. */
const WORDS = new Set(['message', 'msg', 'detail', 'description']);

/** Documented fields that may hold any text, also that of a code. */
const FREE_TEXTS = new Set(['label', 'root_password']);

function valuesOf(leaves: readonly Leaf[], name: string): string[] {
  const held = leaves.filter((leaf) => leaf.name === name && !isAbsent(leaf.value));
  return held.map(({ value }) => String(value).trim().toLowerCase());
}

function findRecord(outer: Fields): Fields {
  if (!isAbsent(outer.id)) return outer;
  const inner = Object.values(outer).map((value) => fieldsOf(takeOnly(value)));
  const [record, ...rivals] = inner.filter(({ id }) => !isAbsent(id));
  return record && rivals.length === 0 ? record : outer;
}

function takeOnly(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 ? value[0] : value;
}

function proseIn(value: unknown): string[] {
  const text = typeof value === 'string' ? value.trim() : '';
  return /\s/.test(text) ? [text] : [];
}

/** Refuses an answer in which anything denies the success that its status claims. @throws Unclear */
function refuseContradiction(leaves: readonly Leaf[], status: number, sent: Sent): void {
  const isDenied = (leaf: Leaf) =>
    isFault(leaf) ||
    isNo(leaf, status) ||
    isOfATask(leaf) ||
    (!FREE_TEXTS.has(leaf.name) && holdsCode(leaf, sent));
  if (leaves.some(isDenied)) throw new Unclear('carries_error');
}

/** Whether a documented code is a word of a string without blanks that is no address, or the name of a field that isn't empty. */
function holdsCode({ name, value }: Leaf, sent: Sent): boolean {
  const isWord = typeof value === 'string' && !/\s|^(?:\/|https?:)/i.test(value.trim());
  const said = isWord ? withoutEchoes(value, sent).split(/[^\w-]+/) : [];
  const isNamed = !isEmpty(value) && (value === true || typeof value === 'string');
  return [...said, ...(isNamed ? [name] : [])].some((word) =>
    API_CODES.some((code) => code === asCode(word)),
  );
}

/** Removes the values of the request from a text, as whole words: a label such as `p` must not hide a part of another word. */
export function withoutEchoes(text: string, sent: Sent): string {
  return Object.values(sent ?? {}).reduce((rest, echo) => {
    const literal = echo.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
    return echo === '' ? rest : rest.replaceAll(new RegExp(`(?<![\\w-])${literal}(?![\\w-])`, 'g'), ' ');
  }, text);
}

export function asCode(word: string): string {
  return word.trim().toLowerCase().replaceAll('-', '_');
}

/** Whether a field is named like a fault and isn't empty, or is a state that is named like one. */
export function isFault({ name, words, value }: Leaf): boolean {
  if (isEmpty(value)) return false;
  const said = name === 'state' ? wordsOf(String(value)) : [];
  return [...words, ...said].some((word) => FAULT.test(word) && word !== 'failover');
}

const FAULT = /^(?:is|has)?(?:err|fail|fault|reject|denied|exception|problem)|error|failure/;

/** The words that report a success. */
export const YES = new Set('ok success successful succeeded done completed'.split(' '));
const STATEMENTS = new Set([
  ...YES,
  ...'status statuscode result outcome code accepted applied executed'.split(' '),
]);

/** Whether a field of this name states the outcome of the call. */
export function isStatement(name: string): boolean {
  const words = wordsOf(name);
  return words.at(-1) === 'status' || STATEMENTS.has(words.join('').replace(/^is/, ''));
}

/** Whether a field states the outcome of the call, with anything but a yes or the HTTP status. */
export function isNo({ name, value }: Leaf, status: number): boolean {
  if (!isStatement(name) || isAbsent(value)) return false;
  const said = String(value).trim().toLowerCase();
  return said !== 'true' && said !== String(status) && !YES.has(said);
}

/** Whether a field is the ID of work that may be done later, or of a charge, rather than of the server. */
function isOfATask({ words, value }: Leaf): boolean {
  return words.at(-1) === 'id' && !isEmpty(value) && words.some((word) => TASKS.has(word));
}

const TASKS = new Set(['task', 'order', 'job', 'invoice']);
