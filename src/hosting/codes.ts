import { API_CODES, type ApiCode } from '../domain/errors.ts';
import { fieldsOf, foldName } from './fields.ts';

/** What the codes in an answer add up to. */
export type CodeVerdict =
  | { readonly kind: 'none' }
  | { readonly kind: 'one'; readonly code: ApiCode }
  /** Codes that contradict each other, or only repeat what we sent. */
  | { readonly kind: 'ambiguous' };

/** What we sent: an answer that only repeats it proves nothing. */
export type Sent = Readonly<Record<string, string>> | undefined;

/**
 * Finds the code of an error (docs/hosting-api.md 7). The document does not name the field that carries it, so any
 * error-like field may, anywhere in the answer, if all that are found agree. `checking` wins over the others: it says
 * that money may have moved.
 */
export function findCode(body: unknown, sent: Sent): CodeVerdict {
  const echoes = new Set(Object.values(sent ?? {}).map(normalize));
  const found = new Set(listTokens(body).map(({ text }) => normalize(text)));
  const codes = API_CODES.filter((code) => found.has(code));
  const [code, ...others] = codes.filter((one) => !echoes.has(one));
  if (code === undefined) return { kind: codes.length > 0 ? 'ambiguous' : 'none' };
  if (others.length === 0) return { kind: 'one', code };
  return code === 'checking' || others.includes('checking')
    ? { kind: 'one', code: 'checking' }
    : { kind: 'ambiguous' };
}

/** Finds a code that we don't know, for the log. Only letters and underscores: anything longer or odder may be a secret. */
export function findUnknownCode(body: unknown, sent: Sent): string | undefined {
  const echoes = new Set(Object.values(sent ?? {}));
  return listTokens(body)
    .filter(({ isProse }) => !isProse)
    .map(({ text }) => text)
    .find(
      (text) =>
        /^(?:[a-z]+|[A-Z]+)(?:[_-](?:[a-z]+|[A-Z]+)){0,5}$/.test(text) &&
        text.length <= 40 &&
        !echoes.has(text),
    );
}

/** Reads a known code; undefined for everything else. */
export function findKnownCode(value: unknown, sent: Sent): ApiCode | undefined {
  if (typeof value !== 'string') return undefined;
  const text = normalize(value);
  const isEcho = Object.values(sent ?? {}).some((one) => normalize(one) === text);
  return isEcho ? undefined : API_CODES.find((code) => code === text);
}

interface Token {
  readonly text: string;
  /** From a field with text for people: unknown codes are not looked for there. */
  readonly isProse: boolean;
}

const CODE_FIELDS = new Set(
  'code error errors err errorcode errcode errortype type kind reason status statuscode name slug key id'.split(
    ' ',
  ),
);
const PROSE_FIELDS = new Set(
  'message msg detail details title description errormessage errordescription exception fault problem cause'.split(
    ' ',
  ),
);
/** Objects around an error. */
const WRAPPERS = new Set('data result response meta body server'.split(' '));

const MOST_DEPTH = 5;
const MOST_TOKENS = 60;

function listTokens(body: unknown): Token[] {
  const tokens: Token[] = [];
  collect(body, { isProse: false, depth: 0 }, tokens);
  return tokens;
}

function collect(value: unknown, at: { isProse: boolean; depth: number }, tokens: Token[]): void {
  if (at.depth > MOST_DEPTH || tokens.length >= MOST_TOKENS) return;
  if (typeof value === 'string') {
    tokens.push({ text: value, isProse: at.isProse });
    return;
  }
  const depth = at.depth + 1;
  if (Array.isArray(value)) {
    for (const element of value) collect(element, { ...at, depth }, tokens);
    return;
  }
  for (const [name, field] of Object.entries(fieldsOf(value))) {
    const folded = foldName(name);
    const isProse = PROSE_FIELDS.has(folded);
    if (isProse || CODE_FIELDS.has(folded)) collect(field, { isProse, depth }, tokens);
    else if (WRAPPERS.has(folded) && typeof field === 'object')
      collect(field, { isProse: false, depth }, tokens);
  }
}

function normalize(text: string): string {
  return text.trim().toLowerCase().replaceAll('-', '_');
}
