import { Secret } from '../domain/secret.ts';
import type { Created } from './endpoint.ts';
import {
  type Fields,
  fieldsOf,
  findText,
  findTime,
  findWhole,
  foldName,
  isAbsent,
  isIntact,
} from './fields.ts';

/** Names of objects that services wrap around their answers. */
const ENVELOPES = ['data', 'server', 'result', 'response'];

/**
 * Reads the answer to `POST /servers`. An ID is required; a password may be missing. The password may be in another
 * field than the documented one (docs/hosting-api.md 2), and it is shown only once, so all likely fields are searched.
 */
export function readCreated(body: unknown): Omit<Created, 'sealedAnswer'> | undefined {
  const records = listRecords(body);
  const id = readId(records);
  const state = readState(records);
  if (id === undefined || state === undefined) return undefined;
  const password = findPassword(records);
  return { id, state, ...(password !== undefined && { rootPassword: new Secret(password) }) };
}

/** Whether an answer holds more than an ID and a state: perhaps a password that we did not recognize. */
export function holdsMore(body: unknown): boolean {
  const known = new Set(['id', 'state', ...ENVELOPES]);
  return listRecords(body).some((record) =>
    Object.entries(record).some(([name, value]) => !known.has(name) && !isAbsent(value) && value !== ''),
  );
}

/** Reads the answer to `POST …/renew`. Money is involved, so an answer that names no server or another one proves nothing. */
export function readRenewed(body: unknown, id: number): { id: number; paidUntil?: number } | undefined {
  const records = listRecords(body);
  const times = listDistinct(records, 'paid_until', findTime);
  if (readId(records) !== id || times.length > 1) return undefined;
  return { id, ...(times[0] !== undefined && { paidUntil: times[0] }) };
}

/**
 * Reads the answer to a power action or a delete. Errors are outside 2xx (docs/hosting-api.md 7), so an empty 2xx means
 * done, without a state. A body that is not empty has to name the right server.
 */
export function readChanged(body: unknown, id: number): { id: number; state: string } | undefined {
  if (body === undefined) return { id, state: '' };
  const records = listRecords(body);
  const state = readState(records);
  return readId(records) === id && state !== undefined ? { id, state } : undefined;
}

/** The answer itself and the objects wrapped in it, two levels deep. */
function listRecords(body: unknown): readonly Fields[] {
  const outer = fieldsOf(Array.isArray(body) && body.length === 1 ? body[0] : body);
  const inner = ENVELOPES.map((name) => fieldsOf(outer[name]));
  const innermost = inner.flatMap((record) => ENVELOPES.map((name) => fieldsOf(record[name])));
  return [outer, ...inner, ...innermost].filter((record) => Object.keys(record).length > 0);
}

/** The ID, if all parts of the answer agree on one. */
function readId(records: readonly Fields[]): number | undefined {
  const ids = listDistinct(records, 'id', (id) => findWhole(id) ?? 'unreadable');
  const [id] = ids;
  return ids.length === 1 && typeof id === 'number' ? id : undefined;
}

/** '' if there is none; undefined if two parts of the answer name different states. */
function readState(records: readonly Fields[]): string | undefined {
  const states = listDistinct(records, 'state', (state) => findText(state)?.trim() || undefined);
  return states.length > 1 ? undefined : (states[0] ?? '');
}

function listDistinct<T>(
  records: readonly Fields[],
  name: string,
  read: (value: unknown) => T | undefined,
): T[] {
  const values = records.map((record) => record[name]).filter((value) => !isAbsent(value));
  return [...new Set(values.map(read).filter((value) => value !== undefined))];
}

const PASSWORD_FIELDS = new Set(
  'rootpassword password rootpw rootpass rootpasswd passwd pass pw initialpassword adminpassword defaultpassword temporarypassword'.split(
    ' ',
  ),
);
const LOGINS = ['credentials', 'login', 'access', 'auth', 'root', 'ssh'];

/** Whether any field of an answer is named like a password. */
export function namesPassword(body: unknown): boolean {
  const records = listRecords(body);
  return [...records, ...listLogins(records)].some((record) =>
    Object.entries(record).some(([name, value]) => PASSWORD_FIELDS.has(foldName(name)) && !isAbsent(value)),
  );
}

function listLogins(records: readonly Fields[]): Fields[] {
  return records.flatMap((record) => LOGINS.map((name) => fieldsOf(record[name])));
}

/** The documented field counts first; the other likely fields must not hold more than one password. */
function findPassword(records: readonly Fields[]): string | undefined {
  const documented = listDistinct(records, 'root_password', findSecret);
  if (documented.length > 0) return documented.length === 1 ? documented[0] : undefined;
  const found = [...records, ...listLogins(records)].flatMap((record) =>
    Object.entries(record)
      .filter(([name]) => PASSWORD_FIELDS.has(foldName(name)))
      .flatMap(([, value]) => findSecret(value) ?? []),
  );
  return new Set(found).size === 1 ? found[0] : undefined;
}

/** The password exactly as written; undefined if it is damaged. */
function findSecret(value: unknown): string | undefined {
  const text = findText(value);
  return text !== undefined && text !== '' && isIntact(text) ? text : undefined;
}
