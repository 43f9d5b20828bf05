import type { AnswerStyle } from './answer.ts';
import type { Catalog, Plan } from './catalog.ts';
import type { Operation } from './routes.ts';

/** Added to an id to take it out of the whole numbers that a JavaScript number holds. */
const HUGE = 9_007_199_254_740_993n;

/** Puts a correct answer into the current dialect. Lists are done by `pages.ts`. */
export function speak(style: AnswerStyle, operation: Operation, body: unknown): unknown {
  if (operation === 'catalog') return isCatalog(body) ? speakCatalog(style, body) : body;
  if (operation === 'servers' || !isRecord(body)) return body;
  const record = speakRecord(style, { ...body, ...saidState(style, operation) });
  return style.recordShape === 'plain' ? record : { [style.recordShape]: record };
}

/** The state that an answer says, where the service says another one than it has. */
function saidState(style: AnswerStyle, operation: Operation): { state?: string } {
  if (operation === 'delete') return { state: style.deletedState };
  return operation === 'start' ? { state: style.startedState } : {};
}

/** One server, or one answer about a server: its id, state, date and password as the dialect writes them. */
export function speakRecord(
  style: AnswerStyle,
  record: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { id, state, paid_until, root_password, ...rest } = record;
  return {
    id: typeof id === 'number' ? speakId(style, id) : id,
    ...rest,
    ...(typeof state === 'string' && speakState(style, state)),
    ...(typeof paid_until === 'string' && speakDate(style, paid_until)),
    ...(root_password !== undefined && speakPassword(style, root_password)),
  };
}

/** Reads an id as a caller wrote it into a path; undefined when it is none of this dialect. */
export function hearId(style: AnswerStyle, written: string): string {
  if (!style.ids.startsWith('huge') || !/^\d{16,19}$/.test(written)) return written;
  return String(BigInt(written) - HUGE);
}

/** JSON, in which a bigint is written as the whole number that it is. */
export function writeJson(value: unknown): string {
  const text = JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'bigint' ? `\u0000${part}\u0000` : part,
  );
  return text.replaceAll(/"\\u0000(\d+)\\u0000"/g, '$1');
}

function speakId(style: AnswerStyle, id: number): unknown {
  switch (style.ids) {
    case 'number':
      return id;
    case 'text':
      return String(id);
    case 'huge':
      return HUGE + BigInt(id);
    case 'huge_text':
      return String(HUGE + BigInt(id));
  }
}

function speakState(style: AnswerStyle, state: string): { state?: string } {
  switch (style.states) {
    case 'documented':
      return { state };
    case 'upper':
      return { state: state.toUpperCase() };
    case 'padded':
      return { state: ` ${state}\n` };
    case 'blank':
      return { state: ' ' };
    case 'absent':
      return {};
  }
}

function speakDate(style: AnswerStyle, date: string): { paid_until?: string } {
  const seconds = date.slice(0, 19);
  switch (style.dates) {
    case 'milliseconds':
      return { paid_until: date };
    case 'seconds':
      return { paid_until: `${seconds}Z` };
    case 'microseconds':
      return { paid_until: `${seconds}.000000+00:00` };
    case 'offset':
      return { paid_until: `${new Date(Date.parse(date) + 7_200_000).toISOString().slice(0, 19)}+02:00` };
    case 'absent':
      return {};
    case 'nonsense':
      return { paid_until: '2026-02-30T00:00:00Z' };
  }
}

function speakPassword({ passwordField }: AnswerStyle, password: unknown): Record<string, unknown> {
  return passwordField === 'credentials.password'
    ? { credentials: { user: 'root', password } }
    : { [passwordField]: password };
}

function speakCatalog(style: AnswerStyle, catalog: Catalog): unknown {
  const choice = (code: string) => {
    if (style.choices === 'strings') return code;
    const name = `The ${code} one`;
    return style.choices === 'objects' ? { code, name } : { name };
  };
  return {
    plans: catalog.plans.map((plan) => ({
      ...plan,
      monthly: speakPrice(style, plan),
      ...(style.prices === 'in_usd' && { currency: 'USD' }),
    })),
    locations: catalog.locations.map(choice),
    images: catalog.images.map(choice),
  };
}

function speakPrice(style: AnswerStyle, { monthly }: Plan): unknown {
  switch (style.prices) {
    case 'documented':
    case 'in_usd':
      return monthly;
    case 'number':
      return Number(monthly);
    case 'three_decimals':
      return `${monthly}0`;
    case 'comma':
      return monthly.replace('.', ',');
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCatalog(value: unknown): value is Catalog {
  return isRecord(value) && Array.isArray(value.plans);
}
