import { z } from 'zod';
import { because } from './fault.ts';

export type Fields = Readonly<Record<string, z.ZodType>>;

/** An object with these fields and no others. */
export function object(required: Fields, optional: Fields = {}) {
  return z.strictObject({ ...required, ...z.object(optional).partial().shape });
}

/** An object of this `type`. */
export function typed(type: string, required: Fields, optional: Fields = {}) {
  return object({ type: z.literal(type), ...required }, optional);
}

/** An object that has at least one of these fields; said once all else is right. */
export function withOneOf(schema: z.ZodObject, ...names: readonly string[]) {
  return schema.refine((value) => names.some((name) => value[name] !== undefined), {
    ...because('missing', `one of ${names.join(', ')} is required`),
    when: ({ issues }) => issues.length === 0,
  });
}

/** A string of at most `max` characters. */
export const string = (max = Number.POSITIVE_INFINITY) => z.string().max(max);

/** A string of 1 to `max` characters. */
export const filled = (max?: number) => string(max).min(1);

/** A whole number from `min` to `max`. */
export const whole = (min = 0, max = Number.MAX_SAFE_INTEGER) => z.int().min(min).max(max);
