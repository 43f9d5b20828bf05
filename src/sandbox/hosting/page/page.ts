import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Account } from '../accounts.ts';
import { readBody } from '../body.ts';
import { ApiError } from '../errors.ts';
import { accountsView, accountView } from './account-view.ts';
import { checkSource, PageRefusal } from './guard.ts';
import { html } from './html.ts';
import { layout } from './layout.ts';
import type { Note, Notes } from './notes.ts';
import type { PageParts } from './page-parts.ts';
import { serviceView } from './service-view.ts';
import { findAccount, submit } from './submit.ts';

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
