import type { z } from 'zod';
import { isRefusal, type Reason, Refusal } from '../core/errors.ts';

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

/** How the details of each code are stored: a code without a schema does not compile. */
export type Schemas<Details> = { readonly [Code in keyof Details]: z.ZodType<Details[Code]> };

/** Reads a stored code and its details; undefined for what another version has written. */
export function findReason<Details>(
  schemas: Schemas<Details>,
  code: string,
  json: string,
): Reason<Details> | undefined {
  return hasCode(schemas, code) ? readReason(schemas, code, json) : undefined;
}

function hasCode<Details>(schemas: Schemas<Details>, code: string): code is keyof Details & string {
  return Object.hasOwn(schemas, code);
}

function readReason<Details, Code extends keyof Details>(
  schemas: Schemas<Details>,
  code: Code,
  json: string,
): Reason<Details, Code> | undefined {
  const read = schemas[code].safeParse(parseJson(json));
  return read.success ? { code, details: read.data } : undefined;
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
