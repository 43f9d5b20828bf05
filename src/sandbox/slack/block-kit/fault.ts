import type { z } from 'zod';
import { isJson } from '../json.ts';
import type { Texts } from '../page-api.ts';

export interface BlockKitFault {
  /** JSON pointer into the message or view. */
  readonly path: string;
  readonly rule: Rule;
  readonly words: string;
}

const RULES = [
  'missing',
  'wrong_type',
  'unknown_type',
  'unknown_field',
  'not_allowed_here',
  'too_long',
  'too_short',
  'too_many',
  'too_few',
  'not_an_option',
  'duplicate_id',
  'submit_required',
  'uneven_rows',
  'empty_cell',
  'text_budget',
  'too_large',
] as const;

export type Rule = (typeof RULES)[number];

type Issue = z.core.$ZodIssue;

/** Finds everything in a value that a schema refuses. A field with `null` counts as left out, as in Slack. */
export function findSchemaFaults(schema: z.ZodType, value: unknown): BlockKitFault[] {
  const { error } = schema.safeParse(withoutNulls(value), { reportInput: true });
  return error?.issues.flatMap(faultsOf) ?? [];
}

/** The parameters of a refinement that breaks this rule. */
export function because(rule: Rule, words: string, ...path: string[]) {
  return { params: { rule }, error: words, path };
}

export function report(context: z.RefinementCtx, rule: Rule, words: string, ...path: PropertyKey[]): void {
  context.addIssue({ code: 'custom', params: { rule }, message: words, path });
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJson(value)) return value;
  const given = Object.entries(value).filter(([, field]) => field !== null && field !== undefined);
  return Object.fromEntries(given.map(([name, field]) => [name, withoutNulls(field)]));
}

function faultsOf(issue: Issue): BlockKitFault[] {
  const path = issue.path.map((part) => `/${String(part)}`).join('');
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      path: `${path}/${key}`,
      rule: 'unknown_field',
      words: `${key} is not a field of this object`,
    }));
  if (issue.input === undefined && issue.path.length > 0)
    return [{ path, rule: 'missing', words: `${String(issue.path.at(-1))} is required` }];
  // zod blames the field `type`; Slack points at the object.
  if (issue.code === 'invalid_union') return [{ path: path.replace(/\/type$/, ''), ...describeUnion(issue) }];
  return [{ path, ...describe(issue) }];
}

type Described = Omit<BlockKitFault, 'path'>;

function describe(issue: Issue): Described {
  if (issue.code === 'too_big')
    return describeSize(issue, ['too_long', 'too_many'], `at most ${issue.maximum}`);
  if (issue.code === 'too_small')
    return describeSize(issue, ['too_short', 'too_few'], `at least ${issue.minimum}`);
  if (issue.code === 'invalid_value')
    return { rule: 'wrong_type', words: `must be one of ${issue.values.join(', ')}` };
  if (issue.code === 'custom')
    return { rule: RULES.find((rule) => rule === issue.params?.rule) ?? 'wrong_type', words: issue.message };
  const expected = issue.code === 'invalid_type' ? issue.expected : '';
  return { rule: 'wrong_type', words: `must be ${TYPE_WORDS[expected] ?? expected}` };
}

const TYPE_WORDS: Texts = {
  string: 'a string',
  boolean: 'true or false',
  number: 'a number',
  int: 'a whole number',
  array: 'a list',
  object: 'an object',
};

function describeSize({ input }: Issue, [ofText, other]: readonly [Rule, Rule], limit: string): Described {
  if (typeof input === 'string') return { rule: ofText, words: `has ${input.length} characters; ${limit}` };
  const words = Array.isArray(input)
    ? `has ${input.length} items; ${limit}`
    : `is ${String(input)}; ${limit}`;
  return { rule: other, words };
}

function describeUnion({ input }: Issue): Described {
  const type = isJson(input) ? input.type : undefined;
  return { rule: 'unknown_type', words: `${JSON.stringify(type)} is not a type that is allowed here` };
}
