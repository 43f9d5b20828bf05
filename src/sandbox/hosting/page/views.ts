import type { Account, KeyEntry } from '../accounts.ts';
import { type AnswerStyle, DIALECT } from '../answers.ts';
import { decimalOf, type Plan } from '../catalog.ts';
import { FAULT_EFFECTS, FAULT_KINDS, type Fault, type FaultRule } from '../faults.ts';
import type { MoneyEntry, RequestEntry } from '../journal.ts';
import { ERROR_CODES, OPERATIONS } from '../protocol.ts';
import type { WireServer } from '../servers.ts';
import type { Note } from './page.ts';

/** What the account's own half of the page shows. */
interface AccountFacts {
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

/** What the page shows of the service itself, the same for every account. */
interface ServiceFacts {
  readonly nowMs: number;
  readonly faults: readonly Fault[];
  readonly plans: readonly Plan[];
  readonly requests: readonly RequestEntry[];
  readonly style: AnswerStyle;
}

const MAX_REQUESTS = 30;

/** Time, faults, prices and the latest requests; `home` is the account to come back to. */
export function serviceView(facts: ServiceFacts, home: number): Html {
  return html`<h2>Time</h2><p>It is <strong>${time(facts.nowMs)} UTC</strong> in the service.</p>
<form class="row" method="post" action="/account/${home}/time"><button name="step" value="hour">An hour later</button>
<button name="step" value="day">A day later</button><button name="step" value="month">A month later</button></form>
<h2>Faults</h2>${faultsView(facts.faults, home)}
<h2>Answers</h2>${answersView(facts.style, home)}
<h2>Prices</h2>${pricesView(facts.plans, home)}
<h2>Latest requests</h2>${requestsView(facts.requests)}`;
}

function faultsView(faults: readonly Fault[], home: number): Html {
  const rows = faults.map(
    ({ id, rule, left }) =>
      html`<tr><td><form method="post" action="/account/${home}/faults/${id}/remove"><button>Switch off</button></form></td>
<td>${rule.on}</td><td>${describeRule(rule)}</td><td>${Number.isFinite(left) ? left : 'always'}</td></tr>`,
  );
  const kinds = Object.keys(FAULT_EFFECTS).filter((kind) => kind !== 'error' && !kind.startsWith('other'));
  return html`${table(['', 'On', 'Fault', 'Left'], rows, 'No faults: the service answers correctly and at once.')}
<form class="row" method="post" action="/account/${home}/faults">
<label>On <select name="on"><option>any</option><option>paid</option>${OPERATIONS.map((name) => html`<option>${name}</option>`)}</select></label>
<label>Fault <select name="kind">${kinds.map((kind) => html`<option>${kind}</option>`)}
<optgroup label="refuse with an error">${ERROR_CODES.map((code) => html`<option value="error:${code}">${code}</option>`)}</optgroup></select></label>
<label>Times <select name="times"><option>1</option><option>2</option><option>5</option><option>always</option></select></label>
<label>Seconds <input name="seconds" value="10" inputmode="decimal"></label>
<button>Switch on</button></form>
<p class="dim">Seconds apply to slow (how long the answer takes) and to checking (until the server appears or the charge is returned).
<strong>The request is not carried out</strong> with ${listKinds(false)} or a refusal. Two refusals of create charge first:
not_created returns the charge at once, checking returns it after the seconds.
<strong>The request is carried out</strong> with ${listKinds(true)}. With the two checking kinds, the month is charged, and
after the seconds the server appears or the charge is returned.</p>`;
}

/** The faults under which the work is done, or is not. A refusal is worded differently. */
function listKinds(works: boolean): string {
  return FAULT_KINDS.filter(
    (kind) => FAULT_EFFECTS[kind].works === works && kind !== 'error' && !/^(?:checking|other)/.test(kind),
  ).join(', ');
}

function answersView(style: AnswerStyle, home: number): Html {
  const traits = Object.entries(DIALECT).map(([trait, spoken]) => {
    const now: unknown = Reflect.get(style, trait);
    const words = spoken.map((word) =>
      word === now ? html`<option selected>${word}</option>` : html`<option>${word}</option>`,
    );
    return html`<label>${trait} <select name="${trait}">${words}</select></label>`;
  });
  return html`<details><summary>How the service answers where its documentation is silent</summary>
<form class="row" method="post" action="/account/${home}/answers">${traits}
<label>pageSize <input name="pageSize" value="${style.pageSize}" inputmode="numeric"></label><button>Change</button></form></details>`;
}

/** A rule in a few words. */
export function describeRule(rule: FaultRule): string {
  const details = [
    rule.code,
    rule.delayMs !== undefined && `${rule.delayMs / 1000} s`,
    rule.afterMs !== undefined && `after ${rule.afterMs / 1000} s`,
    rule.status,
    rule.accountId !== undefined && `account ${rule.accountId} only`,
  ];
  return [rule.kind, ...details.filter(Boolean)].join(', ');
}

function pricesView(plans: readonly Plan[], home: number): Html {
  const rows = plans.map(
    (plan) =>
      html`<tr><td>${plan.code}</td><td class="amount">${plan.monthly}</td><td>${plan.vcpu} vCPU</td><td>${plan.ram_mb} MB</td><td>${plan.disk_gb} GB</td></tr>`,
  );
  const heads = ['Plan', amountHead('A month'), 'Processors', 'Memory', 'Disk'];
  return html`<form class="row" method="post" action="/account/${home}/prices">
<label>Plan <select name="plan">${plans.map((plan) => html`<option>${plan.code}</option>`)}</select></label>
<label>New price <input name="price" placeholder="9.99" inputmode="decimal" required></label><button>Change</button></form>
${plans.length > 12 ? html`<details><summary>${plans.length} plans</summary>${table(heads, rows, '')}</details>` : table(heads, rows, '')}`;
}

function requestsView(requests: readonly RequestEntry[]): Html {
  const rows = requests
    .slice(-MAX_REQUESTS)
    .reverse()
    .map(
      (request) =>
        html`<tr><td>${time(request.atMs).slice(11)}</td><td>${request.status ?? request.ending}</td><td>${request.method} ${request.path}</td><td>${[request.code, request.fault && `fault ${request.fault}`].filter(Boolean).join(', ')}</td></tr>`,
    );
  return table(['UTC', 'Answer', 'Request', ''], rows, 'None yet.');
}

/** A whole page around its content. */
export function layout(title: string, note: Note | undefined, content: Html): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><title>${title} · sandbox hosting</title>${STYLE}</head>
<body><p class="dim"><a href="/account/">Accounts</a> · sandbox hosting, nothing here costs real money</p>
<h1>${title}</h1>${note && noteBox(note)}${content}</body></html>
`.text;
}

function noteBox(note: Note): Html {
  if (note.kind === 'problem') return html`<p class="box bad" role="alert">${note.words}</p>`;
  return html`<div class="box" role="status"><p class="good">A new API key. It is shown this once:</p>
<p><code class="key">${note.key}</code></p></div>`;
}

/** A moment of the service's clock, to the second, in UTC. */
function time(atMs: number): string {
  return new Date(atMs).toISOString().replace('T', ' ').slice(0, 19);
}

/** A table that scrolls sideways by itself on a narrow screen; words instead when it has no rows. */
function table(heads: readonly (string | Html)[], rows: readonly Html[], empty: string): Html {
  if (rows.length === 0) return html`<p class="dim">${empty}</p>`;
  const cells = heads.map((head) => (typeof head === 'string' ? html`<th>${head}</th>` : head));
  return html`<div class="wide"><table><thead><tr>${cells}</tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

/** The head of a column of amounts, which stand to the right. */
function amountHead(words: string): Html {
  return html`<th class="amount">${words}</th>`;
}

/** A piece of HTML that may be put into other HTML as it is. */
class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Piece = string | number | Html | undefined | false | readonly Piece[];

/** Builds HTML; every value that is not itself `Html` is escaped. */
export function html(strings: TemplateStringsArray, ...values: readonly Piece[]): Html {
  return new Html(strings.reduce((text, part, index) => text + render(values[index - 1]) + part));
}

function render(piece: Piece): string {
  if (piece === undefined || piece === false) return '';
  if (piece instanceof Html) return piece.text;
  if (typeof piece === 'string' || typeof piece === 'number') return escapeHtml(String(piece));
  return piece.map(render).join('');
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The whole style of the account page: one column that fits 390 px, light or dark as the reader's system is. */
const STYLE = new Html(`<style>
:root { color-scheme: light dark; --line: light-dark(#d9dce1, #3a3f47); --soft: light-dark(#f4f5f7, #23272e);
  --dim: light-dark(#5c6470, #a3abb8); --accent: light-dark(#1a5fb4, #8ab8ff); --bad: light-dark(#b3261e, #ff9a90);
  --good: light-dark(#1e7a3c, #7ddb9a); }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 16px; max-width: 920px; font: 15px/1.5 system-ui, sans-serif;
  background: light-dark(#fff, #181b20); color: light-dark(#1d2127, #e6e9ee); }
a { color: var(--accent); }
h1 { font-size: 22px; margin: 8px 0; } h2 { font-size: 17px; margin: 28px 0 8px; }
h2 + p { margin-top: 0; } p { margin: 8px 0; }
.dim { color: var(--dim); } .bad { color: var(--bad); } .good { color: var(--good); }
.balance { font-size: 30px; font-weight: 600; margin: 0; }
.box { border: 1px solid var(--line); border-radius: 8px; padding: 12px; background: var(--soft); margin: 12px 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 5px 14px 5px 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { font-weight: 500; color: var(--dim); } .amount { text-align: right; font-variant-numeric: tabular-nums; }
td form { margin: 0; }
form.row { display: flex; flex-wrap: wrap; gap: 8px; align-items: end; margin: 8px 0; }
label { display: flex; flex-direction: column; font-size: 13px; color: var(--dim); }
input, select, button { font: inherit; padding: 5px 9px; border: 1px solid var(--line); border-radius: 6px;
  background: light-dark(#fff, #14171b); color: light-dark(#1d2127, #e6e9ee); font-size: 15px; max-width: 100%; }
input[name=amount], input[name=price], input[name=seconds] { width: 110px; }
button { cursor: pointer; background: light-dark(#e9edf3, #303640); }
@media (max-width: 480px) { th, td { padding-right: 10px; font-size: 14px; } }
code { font: 14px ui-monospace, monospace; overflow-wrap: anywhere; }
.key { font-size: 16px; user-select: all; }
</style>`);
