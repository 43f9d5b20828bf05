import type { Account } from '../accounts.ts';
import { ApiError } from '../errors.ts';
import {
  changeAnswers,
  changePrice,
  FormProblem,
  openAccount,
  skipTime,
  switchFaultOn,
  topUp,
} from './forms.ts';
import type { Note } from './notes.ts';
import type { PageParts } from './page-parts.ts';

/** Carries a form out; says which page to go to and what to tell there. */
export function submit(
  parts: PageParts,
  steps: readonly string[],
  fields: URLSearchParams,
): { home: string; note?: Note } {
  const [first = '', ...rest] = steps;
  try {
    if (first === 'open' && rest.length === 0) return { home: String(openAccount(parts, fields).id) };
    const account = findAccount(parts, first);
    if (!account) throw new FormProblem('There is no such account.');
    const note = submitFor(parts, account, rest, fields);
    return { home: first, ...(note && { note }) };
  } catch (error) {
    if (!(error instanceof FormProblem)) throw error;
    const home = findAccount(parts, first) ? first : '';
    return { home, note: { kind: 'problem', words: error.message } };
  }
}

function submitFor(
  parts: PageParts,
  account: Account,
  steps: readonly string[],
  fields: URLSearchParams,
): Note | undefined {
  const [what, id, verb] = steps;
  switch ([what, verb].filter(Boolean).join(' ')) {
    case 'top-up':
      topUp(parts, account, fields);
      return undefined;
    case 'keys':
      return createKey(parts, account);
    case 'keys revoke':
      parts.accounts.revokeKey(account, Number(id));
      return undefined;
    case 'time':
      skipTime(parts, fields);
      return undefined;
    case 'prices':
      changePrice(parts, fields);
      return undefined;
    case 'answers':
      changeAnswers(parts, fields);
      return undefined;
    case 'faults':
      switchFaultOn(parts, fields);
      return undefined;
    case 'faults remove':
      parts.faults.remove(Number(id));
      return undefined;
    default:
      throw new FormProblem('There is no such form.');
  }
}

function createKey({ accounts }: PageParts, account: Account): Note {
  try {
    return { kind: 'key', key: accounts.createKey(account) };
  } catch (error) {
    if (error instanceof ApiError) throw new FormProblem('Top up first; then keys can be created.');
    throw error;
  }
}

/** The account that a page's path names. */
export function findAccount({ accounts }: PageParts, id: string): Account | undefined {
  return /^\d{1,9}$/.test(id) ? accounts.find(Number(id)) : undefined;
}
