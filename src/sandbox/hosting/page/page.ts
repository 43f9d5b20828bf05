import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Account, Accounts } from '../accounts.ts';
import type { AnswerStyle, AnswerStyleChange } from '../answers.ts';
import { minorOf, type PriceList } from '../catalog.ts';
import type { HostingClock } from '../clock.ts';
import { FAULT_EFFECTS, type FaultBook, type FaultKind, type FaultRule } from '../faults.ts';
import type { Journal } from '../journal.ts';
import { parseDialect } from '../options.ts';
import { ApiError, ERROR_CODES, OPERATIONS, readBody } from '../protocol.ts';
import type { Servers } from '../servers.ts';
import { accountsView, accountView, html, layout, serviceView } from './views.ts';

interface PageParts {
  readonly accounts: Accounts;
  readonly clock: HostingClock;
  readonly faults: FaultBook;
  readonly journal: Journal;
  readonly prices: PriceList;
  readonly servers: Servers;
  readonly style: AnswerStyle;
  readonly setAnswers: (change: AnswerStyleChange) => void;
}

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  // Not `no-referrer`: under that browsers send `Origin: null` with our own forms.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

/** Answers one request for the account page. */
export async function servePage(
  parts: PageParts,
  notes: Notes,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    checkSource(request);
    if (request.method === 'POST') await submitForm(parts, notes, request, response);
    else showPage(parts, notes, request, response);
  } catch (error) {
    const refusal = error instanceof ApiError ? new PageRefusal(400, 'That form is too large.') : error;
    if (!(refusal instanceof PageRefusal)) throw error;
    const page = layout('Not here', { kind: 'problem', words: refusal.message }, html``);
    response.writeHead(refusal.status, HEADERS).end(page);
  }
}

/** Carries a form out and answers by a redirect, so that reloading repeats nothing. */
async function submitForm(
  parts: PageParts,
  notes: Notes,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { steps } = placeOf(request);
  const fields = new URLSearchParams(await readBody(request));
  const { home, note } = submit(parts, steps, fields);
  const query = note ? `?note=${notes.add(note)}` : '';
  response.writeHead(303, { location: `/account/${home}${query}`, 'cache-control': 'no-store' }).end();
}

function showPage(parts: PageParts, notes: Notes, request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== 'GET') throw new PageRefusal(405, 'This page is read, and its forms are posted.');
  const { steps, noteName } = placeOf(request);
  const [id = ''] = steps;
  const account = findAccount(parts, id);
  if (steps.length > 1 || (id !== '' && !account)) throw new PageRefusal(404, 'There is no such page.');
  parts.servers.settle();
  const note = notes.take(noteName);
  const page = account ? accountPage(parts, account, note) : accountsPage(parts, note);
  response.writeHead(200, HEADERS).end(page);
}

function placeOf(request: IncomingMessage): { steps: string[]; noteName: string | null } {
  const url = new URL(request.url ?? '', 'http://localhost');
  return { steps: url.pathname.split('/').slice(2), noteName: url.searchParams.get('note') };
}

function accountsPage({ accounts }: PageParts, note: Note | undefined): string {
  const rows = accounts.list().map((account) => ({ account, balanceMinor: accounts.balanceOf(account) }));
  return layout('Accounts', note, accountsView(rows));
}

function accountPage(parts: PageParts, account: Account, note: Note | undefined): string {
  const { accounts, clock, faults, journal, prices, servers, style } = parts;
  const own = accountView({
    account,
    balanceMinor: accounts.balanceOf(account),
    isOpen: accounts.isOpen(account),
    keys: accounts.listKeys(account),
    servers: servers.list(account),
    money: journal.money({ accountId: account.id }),
  });
  const service = serviceView(
    {
      nowMs: clock.now(),
      faults: faults.list(),
      plans: prices.current.plans,
      requests: journal.requests(),
      style,
    },
    account.id,
  );
  return layout(account.name, note, html`${own}${service}`);
}

const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i;

/** A page request that is not served, in words for the sender. */
class PageRefusal extends Error {
  override readonly name = 'PageRefusal';
  readonly status: number;

  constructor(status: number, words: string) {
    super(words);
    this.status = status;
  }
}

/**
 * Lets in only requests that use a loopback name (any other is foreign DNS pointed at this machine) and only forms
 * that were posted from this very page.
 * @throws PageRefusal
 */
function checkSource({ headers, method }: IncomingMessage): void {
  if (!LOOPBACK_HOST.test(headers.host ?? ''))
    throw new PageRefusal(403, 'This page is for this machine only.');
  if (method === 'POST' && !isOwnForm(headers))
    throw new PageRefusal(403, 'This form did not come from the account page.');
}

/** The browser must say so in one header at least, and deny it in none. */
function isOwnForm(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  const { origin, host } = headers;
  if (site === undefined && origin === undefined) return false;
  if (site !== undefined && site !== 'same-origin') return false;
  return origin === undefined || origin === `http://${host}`;
}

/** Carries a form out; says which page to go to and what to tell there. */
function submit(
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
function findAccount({ accounts }: PageParts, id: string): Account | undefined {
  return /^\d{1,9}$/.test(id) ? accounts.find(Number(id)) : undefined;
}

/** A form that cannot be carried out, in words for the person who sent it. */
export class FormProblem extends Error {
  override readonly name = 'FormProblem';
}

type Fields = URLSearchParams;

const HOUR_MS = 60 * 60 * 1000;

/** Opens an account. @throws FormProblem */
function openAccount({ accounts }: PageParts, fields: Fields): Account {
  const name = (fields.get('name') ?? '').trim();
  if (name === '' || name.length > 100) throw new FormProblem('Enter a name of 1 to 100 characters.');
  return accounts.create({ name });
}

/** Books a top-up. @throws FormProblem */
export function topUp({ accounts }: PageParts, account: Account, fields: Fields): void {
  const amountMinor = minorOf(parseAmount(fields.get('amount')));
  if (amountMinor === 0) throw new FormProblem('A top-up is more than nothing.');
  accounts.topUp(account, amountMinor);
}

/** Changes a plan's price. @throws FormProblem */
export function changePrice({ prices }: PageParts, fields: Fields): void {
  const plan = prices.findPlan(fields.get('plan') ?? '');
  if (!plan) throw new FormProblem('There is no such plan.');
  const price = parseAmount(fields.get('price'));
  prices.setPrice(plan.code, price);
}

/** Moves the service's clock. @throws FormProblem */
export function skipTime({ clock }: PageParts, fields: Fields): void {
  const step = fields.get('step');
  if (step === 'hour') clock.advance(HOUR_MS);
  else if (step === 'day') clock.advance(24 * HOUR_MS);
  else if (step === 'month') clock.advanceMonth();
  else throw new FormProblem('Time moves by an hour, a day or a month.');
}

/** Switches a fault on. @throws FormProblem */
function switchFaultOn({ faults }: PageParts, fields: Fields): void {
  try {
    faults.add(parseFault(fields));
  } catch (error) {
    if (error instanceof RangeError) throw new FormProblem(error.message);
    throw error;
  }
}

/** Changes how the service answers. @throws FormProblem */
function changeAnswers({ setAnswers }: PageParts, fields: Fields): void {
  const pageSize = Number(fields.get('pageSize') ?? '');
  try {
    const dialect = parseDialect(Object.fromEntries(fields), (trait) => trait);
    setAnswers({ ...dialect, ...(pageSize > 0 && { pageSize }) });
  } catch (error) {
    if (error instanceof RangeError) throw new FormProblem(error.message);
    throw error;
  }
}

function parseFault(fields: Fields): FaultRule {
  const [kindName, codeName] = (fields.get('kind') ?? '').split(':');
  const kind = Object.keys(FAULT_EFFECTS).find((name): name is FaultKind => name === kindName);
  const on = [...OPERATIONS, 'paid' as const, 'any' as const].find((name) => name === fields.get('on'));
  const code = ERROR_CODES.find((name) => name === codeName);
  if (!kind || !on) throw new FormProblem('There is no such fault.');
  const times = fields.get('times') === 'always' ? 'always' : Number(fields.get('times') ?? 1);
  const ms = Number(fields.get('seconds') ?? 10) * 1000;
  return {
    on,
    kind,
    times,
    ...(code && { code }),
    ...(kind.startsWith('slow') && { delayMs: ms }),
    ...((kind.startsWith('checking') || code === 'checking') && { afterMs: ms }),
  };
}

/** A decimal amount as a person types it, `50`, `50.5` or `50,50`, with two decimals. @throws FormProblem */
function parseAmount(typed: string | null): string {
  const parts = /^(\d{1,7})(?:[.,](\d{1,2}))?$/.exec((typed ?? '').trim());
  if (!parts) throw new FormProblem('Enter an amount such as 50 or 49.90.');
  return `${parts[1]}.${(parts[2] ?? '').padEnd(2, '0')}`;
}

/** What the next page shows once, after a form was sent: a new key, or what was wrong with the form. */
export type Note =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'problem'; readonly words: string };

const MAX_WAITING = 50;

/** Notes between a form and the page it leads to. Each is shown once, so that a key is not in any later page. */
export class Notes {
  readonly #waiting = new Map<string, Note>();

  /** Keeps a note and returns the name under which the next page finds it. */
  add(note: Note): string {
    const name = randomBytes(12).toString('base64url');
    this.#waiting.set(name, note);
    for (const oldest of this.#waiting.keys()) {
      if (this.#waiting.size <= MAX_WAITING) break;
      this.#waiting.delete(oldest);
    }
    return name;
  }

  /** Hands a note out and forgets it. */
  take(name: string | null): Note | undefined {
    if (name === null) return undefined;
    const note = this.#waiting.get(name);
    this.#waiting.delete(name);
    return note;
  }
}
