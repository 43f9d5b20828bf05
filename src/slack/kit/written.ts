import type { z } from 'zod';
import { Refusal } from '../../domain/errors.ts';

/**
 * Reads back what we wrote into a button or a modal.
 * @throws Refusal `unreadable_press` when another version of the app wrote it, or somebody else did
 */
export function parseWritten<Value>(text: string, schema: z.ZodType<Value>): Value {
  let written: unknown;
  try {
    written = JSON.parse(text);
  } catch {
    throw new Refusal('unreadable_press', {});
  }
  const parsed = schema.safeParse(written);
  if (!parsed.success) throw new Refusal('unreadable_press', {});
  return parsed.data;
}
