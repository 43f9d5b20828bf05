import type { z } from 'zod';
import { isRefusal, Refusal } from '../domain/errors.ts';

/* What this version can't read it doesn't touch (docs/decisions/0020-a-newer-schema-is-refused.md). */

/** Reads what a version of the app has stored. @throws Refusal `newer_version` when only a newer one can read it */
export function parseKnown<Output>(schema: z.ZodType<Output>, stored: unknown): Output {
  const read = schema.safeParse(stored);
  if (read.success) return read.data;
  throw new Refusal('newer_version', {});
}

/** Reads rows, without those that only a newer version can read. */
export function readKnown<Row, Read>(rows: readonly Row[], read: (row: Row) => Read): Read[] {
  return rows.flatMap((row) => readIfKnown(row, read) ?? []);
}

/** Reads a row; undefined when only a newer version can. */
export function readIfKnown<Row, Read>(row: Row, read: (row: Row) => Read): Read | undefined {
  try {
    return read(row);
  } catch (error) {
    if (isRefusal(error, 'newer_version')) return undefined;
    throw error;
  }
}
