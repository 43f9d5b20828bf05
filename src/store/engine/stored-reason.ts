import type { z } from 'zod';
import type { Reason } from '../../domain/reason.ts';

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
