/** One thing that Slack would refuse. */
export interface BlockKitFault {
  /** JSON pointer into the message or view. */
  readonly path: string;
  readonly rule: Rule;
  readonly words: string;
}

export type Rule =
  | 'missing'
  | 'wrong_type'
  | 'unknown_type'
  | 'unknown_field'
  | 'not_allowed_here'
  | 'too_long'
  | 'too_short'
  | 'too_many'
  | 'too_few'
  | 'not_an_option'
  | 'duplicate_id'
  | 'submit_required'
  | 'uneven_rows'
  | 'empty_cell'
  | 'text_budget'
  | 'too_large';

export type Report = (path: string, rule: Rule, words: string) => void;
/** Looks at one value and reports what is wrong with it. */
export type Check = (value: unknown, path: string, report: Report) => void;

export type Fields = Readonly<Record<string, unknown>>;

/** Tells whether the value is a JSON object. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The list in a field; empty when there is none. */
export function listIn(value: unknown, field: string): readonly unknown[] {
  const list = isFields(value) ? value[field] : undefined;
  return Array.isArray(list) ? list : [];
}

/** A string of so many characters. */
export function string({ min = 0, max = Number.POSITIVE_INFINITY }): Check {
  return (value, path, report) => {
    if (typeof value !== 'string') return report(path, 'wrong_type', 'must be a string');
    if (value.length < min) report(path, 'too_short', `must have at least ${min} character(s)`);
    if (value.length > max) report(path, 'too_long', `has ${value.length} characters; at most ${max}`);
  };
}

/** A whole number between two bounds. */
export function whole({ min = 0, max = Number.MAX_SAFE_INTEGER }): Check {
  return (value, path, report) => {
    if (!Number.isInteger(value)) return report(path, 'wrong_type', 'must be a whole number');
    if (Number(value) < min) report(path, 'too_few', `is ${value}; at least ${min}`);
    if (Number(value) > max) report(path, 'too_many', `is ${value}; at most ${max}`);
  };
}

export const number: Check = (value, path, report) => {
  if (typeof value !== 'number') report(path, 'wrong_type', 'must be a number');
};

export const flag: Check = (value, path, report) => {
  if (typeof value !== 'boolean') report(path, 'wrong_type', 'must be true or false');
};

export const anything: Check = () => {};

/** One of a few words. */
export function choice(...words: readonly (string | number)[]): Check {
  return (value, path, report) => {
    if (!words.some((word) => word === value))
      report(path, 'wrong_type', `must be one of ${words.join(', ')}`);
  };
}

/** A list of so many items. */
export function list(item: Check, { min = 0, max = Number.POSITIVE_INFINITY }): Check {
  return (value, path, report) => {
    if (!Array.isArray(value)) return report(path, 'wrong_type', 'must be a list');
    if (value.length < min) report(path, 'too_few', `has ${value.length} items; at least ${min}`);
    if (value.length > max) report(path, 'too_many', `has ${value.length} items; at most ${max}`);
    value.forEach((each, index) => {
      item(each, `${path}/${index}`, report);
    });
  };
}

/** An object with these fields and no others; those named last must be there. */
export function shape(fields: Readonly<Record<string, Check>>, ...required: readonly string[]): Check {
  return (value, path, report) => {
    if (!isFields(value)) return report(path, 'wrong_type', 'must be an object');
    for (const name of required) {
      if (value[name] === undefined || value[name] === null)
        report(`${path}/${name}`, 'missing', `${name} is required`);
    }
    for (const [name, field] of Object.entries(value)) {
      if (field === undefined || field === null) continue;
      const check = fields[name];
      if (check) check(field, `${path}/${name}`, report);
      else report(`${path}/${name}`, 'unknown_field', `${name} is no field of this object`);
    }
  };
}

/** An object whose `type` says which check holds; other types are refused. */
export function byType(kinds: Readonly<Record<string, Check>>, what: string): Check {
  return (value, path, report) => {
    const type = isFields(value) ? value.type : undefined;
    const check = typeof type === 'string' && Object.hasOwn(kinds, type) ? kinds[type] : undefined;
    if (check) check(value, path, report);
    else report(path, 'unknown_type', `${JSON.stringify(type)} is no ${what}`);
  };
}

/** All of several checks. */
export function all(...checks: readonly Check[]): Check {
  return (value, path, report) => {
    for (const check of checks) check(value, path, report);
  };
}
