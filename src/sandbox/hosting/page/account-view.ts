import type { Account, KeyEntry } from '../accounts.ts';
import type { MoneyEntry } from '../journal.ts';
import { decimalOf } from '../money.ts';
import type { WireServer } from '../server-record.ts';
import { type Html, html } from './html.ts';
import { amountHead, table, time } from './layout.ts';

/** What the account's own half of the page shows. */
export interface AccountFacts {
  readonly account: Account;
  readonly balanceMinor: number;
  readonly isOpen: boolean;
  readonly keys: readonly KeyEntry[];
  readonly servers: readonly WireServer[];
  readonly money: readonly MoneyEntry[];
}

const MAX_ROWS = 100;

/** The list of accounts, with a form to open another. */
export function accountsView(accounts: readonly { account: Account; balanceMinor: number }[]): Html {
  const rows = accounts.map(
    ({ account, balanceMinor }) =>
      html`<tr><td><a href="/account/${account.id}">${account.name}</a></td><td class="amount">${decimalOf(balanceMinor)}</td></tr>`,
  );
  return html`${table(['Account', amountHead('Balance')], rows, 'No account yet.')}
<form class="row" method="post" action="/account/open"><label>Name <input name="name" required maxlength="100"></label>
<button>Open an account</button></form>`;
}

/** Balance, API keys, servers and movements of one account. */
export function accountView(facts: AccountFacts): Html {
  const home = `/account/${facts.account.id}`;
  return html`<p class="balance">${decimalOf(facts.balanceMinor)}</p>
<p class="dim">Prepaid balance${facts.isOpen ? '' : '. The API opens with the first top-up.'}</p>
<form class="row" method="post" action="${home}/top-up"><label>Amount <input name="amount" value="50.00" inputmode="decimal" required></label>
<button>Top up</button></form>
<h2>API keys</h2>${keysView(facts, home)}
<h2>Servers</h2>${serversView(facts.servers)}
<h2>Top-ups, charges and refunds</h2>${moneyView(facts.money)}`;
}

function keysView({ keys, isOpen }: AccountFacts, home: string): Html {
  const rows = keys.map(
    (key) =>
      html`<tr><td><code>…${key.hint}</code></td><td>${time(key.createdAtMs)}</td><td>${
        key.revokedAtMs === undefined
          ? html`<form method="post" action="${home}/keys/${key.id}/revoke"><button>Revoke</button></form>`
          : html`<span class="dim">revoked ${time(key.revokedAtMs)}</span>`
      }</td></tr>`,
  );
  return html`${table(['Key', 'Created (UTC)', ''], rows, 'No key yet.')}
${isOpen ? html`<form class="row" method="post" action="${home}/keys"><button>Create an API key</button></form>` : html`<p class="dim">Top up first; then keys can be created here.</p>`}`;
}

function serversView(servers: readonly WireServer[]): Html {
  const rows = servers
    .slice(0, MAX_ROWS)
    .map(
      (server) =>
        html`<tr><td>${server.id}</td><td>${server.label}</td><td>${stateView(server.state)}</td><td>${time(Date.parse(server.paid_until)).slice(0, 16)}</td><td>${server.ipv4}</td></tr>`,
    );
  const more = servers.length - rows.length;
  return html`${table(['Id', 'Label', 'State', 'Paid until (UTC)', 'IPv4'], rows, 'No server yet.')}
${more > 0 && html`<p class="dim">and ${more} more</p>`}`;
}

function stateView(state: string): Html {
  const tone = state === 'running' ? 'good' : state === 'expired' ? 'bad' : 'dim';
  return html`<span class="${tone}">${state}</span>`;
}

function moneyView(money: readonly MoneyEntry[]): Html {
  const rows = money
    .slice(-MAX_ROWS)
    .reverse()
    .map((entry) => {
      const sign = entry.kind === 'charge' ? '−' : '+';
      return html`<tr><td class="amount">${sign}${decimalOf(entry.amountMinor)}</td><td>${entry.what}</td><td>${time(entry.atMs)}</td></tr>`;
    });
  return table([amountHead('Amount'), 'For', 'When (UTC)'], rows, 'Nothing yet.');
}
