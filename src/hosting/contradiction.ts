import type { ApiCode } from '../domain/errors.ts';
import { findKnownCode, type Sent } from './codes.ts';
import type { Endpoint } from './endpoint.ts';
import { type Fields, fieldsOf, foldName } from './fields.ts';

/** An error inside an answer whose status says success. */
export interface Contradiction {
  /** Present if it is a documented code. */
  readonly code: ApiCode | undefined;
}

/**
 * Finds signs of failure in a 2xx answer. Errors have a status outside 2xx (docs/hosting-api.md 7), so an answer that
 * says both proves neither.
 */
export function findContradiction(
  { method, body: sent }: Pick<Endpoint<unknown>, 'method' | 'body'>,
  body: unknown,
): Contradiction | undefined {
  // The elements of a list describe servers, not the request; a single record wrapped in a list does describe it.
  const isWrapped = method !== 'GET' && Array.isArray(body) && body.length === 1;
  const outer = fieldsOf(isWrapped ? body[0] : body);
  const signs = [outer, ...ENVELOPES.map((name) => fieldsOf(outer[name]))].flatMap((fields) =>
    listSigns(fields, sent),
  );
  if (signs.length === 0) return undefined;
  return { code: signs.find((code) => code !== undefined) };
}

const ENVELOPES = ['data', 'server', 'result', 'response', 'meta'];

const ERROR_FIELDS = new Set(
  'error errors errorcode errcode err errormessage exception fault failure failed iserror'.split(' '),
);
const SUCCESS_FIELDS = new Set('success ok successful succeeded issuccess'.split(' '));
/** Fields that don't indicate failure by their names, but may hold a documented code. */
const CODE_FIELDS = new Set('code message msg type detail details reason title status state'.split(' '));
const FAILURES = new Set(['error', 'fail', 'failed', 'failure', 'err']);

/** One entry for each sign of failure: the code that it names, if that is a known one. */
function listSigns(fields: Fields, sent: Sent): (ApiCode | undefined)[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    const folded = foldName(name);
    const nested = Object.values(fieldsOf(Array.isArray(value) ? value[0] : value));
    if (ERROR_FIELDS.has(folded) && saysSomething(value)) {
      const [code] = [value, ...nested].flatMap((one) => findKnownCode(one, sent) ?? []);
      return [code];
    }
    if (SUCCESS_FIELDS.has(folded) && isNo(value)) return [undefined];
    if (!CODE_FIELDS.has(folded)) return [];
    const code = findKnownCode(value, sent);
    if (code !== undefined) return [code];
    return isFailure(folded, value) ? [undefined] : [];
  });
}

function isFailure(name: string, value: unknown): boolean {
  if (name !== 'status' && name !== 'code') return false;
  if (typeof value === 'string' && FAILURES.has(value.trim().toLowerCase())) return true;
  const number = Number(typeof value === 'string' && value.trim() !== '' ? value : (value ?? Number.NaN));
  return number >= 400 && number <= 599;
}

function saysSomething(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return !(value === undefined || value === null || value === false || value === 0 || value === '');
}

function isNo(value: unknown): boolean {
  return (
    value === false || value === 0 || (typeof value === 'string' && /^(false|no|0)$/i.test(value.trim()))
  );
}
