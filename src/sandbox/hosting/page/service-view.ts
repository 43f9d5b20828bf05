import { type AnswerStyle, DIALECT } from '../answer.ts';
import type { Plan } from '../catalog.ts';
import { ERROR_CODES } from '../errors.ts';
import { FAULT_EFFECTS, FAULT_KINDS, type Fault, type FaultRule } from '../faults.ts';
import type { RequestEntry } from '../journal.ts';
import { OPERATIONS } from '../routes.ts';
import { type Html, html } from './html.ts';
import { amountHead, table, time } from './layout.ts';

/** What the page shows of the service itself, the same for every account. */
export interface ServiceFacts {
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
