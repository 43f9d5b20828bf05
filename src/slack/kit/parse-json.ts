import type { z } from 'zod';
import { Refusal } from '../../domain/errors.ts';

/**
 * Reads back the JSON that we wrote into a button or a modal.
 * @throws Refusal `unreadable_press` when another version of the app wrote it, or it was forged
 */
export function parseJson<Value>(text: string, schema: z.ZodType<Value>): Value {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Refusal('unreadable_press', {});
  }
  return parseValue(value, schema);
}

/** Reads a part of such a value. @throws Refusal `unreadable_press` */
export function parseValue<Value>(value: unknown, schema: z.ZodType<Value>): Value {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new Refusal('unreadable_press', {});
  return parsed.data;
}
