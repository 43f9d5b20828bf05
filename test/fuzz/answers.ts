import { HostingError } from '../../src/core/errors.ts';
import type { Secret } from '../../src/core/secret.ts';
import { CATALOGS } from '../hosting/answers/catalogs.ts';
import { FIELDS } from '../hosting/answers/fields.ts';
import { LISTS } from '../hosting/answers/lists.ts';
import { RECORDS } from '../hosting/answers/records.ts';
import { REFUSALS } from '../hosting/answers/refusals.ts';
import { type Call, ID, type Row, readRow } from '../hosting/answers/row.ts';
import type { Dice } from '../support/tries.ts';
import { damage, mutateJson } from './mutate.ts';

const TABLES = [LISTS, FIELDS, CATALOGS, RECORDS, RECORDS, REFUSALS];
const STATUSES = [
  200, 200, 200, 200, 201, 202, 204, 206, 301, 400, 401, 402, 403, 404, 409, 422, 429, 500, 502, 503,
];

/** An answer of the hosting API that it never gives, made from one that it may give. */
export function makeAnswer(dice: Dice): { row: Row; done: string[] } {
  const row = dice.pick(dice.pick(TABLES) ?? []) ?? RECORDS[0];
  if (!row) throw new Error('there is no answer');
  const written = typeof row.body === 'string' ? row.body : JSON.stringify(row.body);
  const status = dice.chance(0.7) ? row.status : dice.pick(STATUSES);
  // Some answers are thousands of levels deep: those are only damaged.
  const parsed = written.length < 10_000 && dice.chance(0.6) ? parse(written) : undefined;
  const times = 1 + dice.number(3);
  let body = written;
  const done = [`${row.call}: ${row.title}`, `status ${status ?? 200}`];
  if (parsed === undefined) {
    for (let time = 0; time < times; time++) body = damage(body, dice);
    done.push(`damaged ${times} times`);
  } else {
    const changed = mutateJson({ body: parsed }, times, dice);
    // The value itself can be changed, too.
    body = changed.text.replace(/^\{"body":(.*)\}$/s, '$1');
    done.push(...changed.done);
  }
  return { row: { ...row, body, ...(status !== undefined && { status }) }, done };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What the client may not make of an answer: another error than its own, or a success that the answer doesn't prove. */
export async function judgeAnswer(row: Row): Promise<readonly string[]> {
  try {
    const made = await readRow(row);
    if (made instanceof HostingError) return [];
    return findUnproven(row, made);
  } catch (error) {
    // A further page that this test has no answer for.
    if (error instanceof Error && error.message.startsWith('a page was asked for')) return [];
    return [`reading throws ${error instanceof Error ? error.stack : String(error)}`];
  }
}

type Fields = Record<string, unknown>;

/** Every success has to stand in the answer, as the document names it. */
function findUnproven({ call, body, status = 200, pages = {} }: Row, made: unknown): readonly string[] {
  const done = Object(made) as Fields;
  const records = [body, ...Object.values(pages).map((page) => page.body)].flatMap((part) =>
    listRecords(typeof part === 'string' ? parse(part) : part),
  );
  const { state } = done;
  const isState = () =>
    state === undefined ||
    records.some(
      (one) => String(one.state).trim() === state || isWritten(one.state, String(state), String(body)),
    );
  const isOfServer = (one: Fields) => idOf(one) === String(ID);
  const proofs: Readonly<Record<Call, () => boolean>> = {
    list: () => (done.servers as Fields[]).every(({ id }) => records.some((one) => idOf(one) === String(id))),
    catalog: () =>
      (done.plans as Fields[]).every(({ code }) => JSON.stringify(records).includes(JSON.stringify(code))),
    create: () =>
      records.some((one) => idOf(one) === String(done.id)) &&
      records.some((one) =>
        isWritten(one.root_password, (done.rootPassword as Secret<string>).reveal(), String(body)),
      ),
    renew: () => records.some(isOfServer) && records.some((one) => one.paid_until !== undefined),
    start: isState,
    stop: isState,
    reboot: isState,
    delete: () =>
      made === false ||
      (records.some(isOfServer) && records.some(({ state }) => /^\s*deleted\s*$/i.test(String(state)))),
  };
  if (made !== false && (status < 200 || status > 299)) return [`a success with status ${status}`];
  return proofs[call]() ? [] : [`a success that isn’t in the answer: ${JSON.stringify(made)}`];
}

/** A number is read as it is written. */
function isWritten(value: unknown, read: string, body: string): boolean {
  return String(value) === read || (typeof value === 'number' && body.includes(read));
}

function idOf({ id }: Fields): string {
  return String(id);
}

/** Every object in an answer. Those of a list of a list count as well: where they may stand is what the table holds. */
function listRecords(value: unknown): Fields[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap((each) => listRecords(each));
  return Array.isArray(value) ? inner : [value as Fields, ...inner];
}
