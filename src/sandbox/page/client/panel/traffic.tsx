import { useState } from 'preact/hooks';
import type { RequestEntry } from '../../../hosting/journal.ts';
import type { BrokenRule, TrafficEntry } from '../../../slack/page-api.ts';
import { Section } from '../controls.tsx';
import { changeScreen, type TrafficKind, useScreen } from '../state.ts';
import { clockTime } from '../text/parse.ts';
import { describeBody, mergeTraffic, type Row } from './rows.ts';

const SHOWN = 150;

const KINDS: readonly (readonly [TrafficKind, string])[] = [
  ['all', 'All'],
  ['slack', 'Slack ↔ app'],
  ['hosting', 'App ↔ hosting'],
];

interface TrafficProps {
  readonly brokenRules: readonly BrokenRule[];
  readonly entries: readonly TrafficEntry[];
  readonly requests: readonly RequestEntry[];
}

/** Every request between Slack, the app and the hosting API, newest first. */
export function Traffic({ brokenRules, entries, requests }: TrafficProps) {
  const kind = useScreen((screen) => screen.trafficKind);
  const rows = mergeTraffic(entries, requests, kind);
  return (
    <>
      <BrokenRules brokenRules={brokenRules} />
      <Section id="traffic" title="Requests">
        <fieldset class="segments">
          <legend class="visually-hidden">Which requests</legend>
          {KINDS.map(([value, words]) => (
            <label key={value} class="segment">
              <input
                type="radio"
                name="traffic-kind"
                class="visually-hidden"
                checked={value === kind}
                onChange={() => changeScreen({ trafficKind: value })}
              />
              {words}
            </label>
          ))}
        </fieldset>
        {rows.length === 0 && <p class="quiet">No requests yet. Run a command.</p>}
        <ol class="traffic">
          {rows
            .slice(-SHOWN)
            .toReversed()
            .map((row) => (
              <li key={row.key}>
                <RequestRow row={row} />
              </li>
            ))}
        </ol>
      </Section>
    </>
  );
}

/** Slack waits three seconds; an ack that takes half of that is marked. */
const SLOW_MS = 1500;

const WAYS: Readonly<Record<Row['way'], readonly [string, string]>> = {
  'to-app': ['→ app', 'Slack calls the app'],
  'to-slack': ['app →', 'The app calls Slack'],
  'to-hosting': ['→ API', 'The app calls the hosting API'],
};

function RequestRow({ row }: { readonly row: Row }) {
  const [isOpen, setOpen] = useState(false);
  const { way, what, tookMs, ending, isBad, code, fault } = row;
  const [sign, meaning] = WAYS[way];
  const unfold = (details: HTMLDetailsElement) => {
    setOpen(details.open);
    // Scroll an opened row into view at the edge of the panel.
    if (details.open) requestAnimationFrame(() => details.scrollIntoView({ block: 'nearest' }));
  };
  return (
    <details class="request" onToggle={({ currentTarget }) => unfold(currentTarget)}>
      <summary>
        <span class={`way ${way}`} title={meaning}>
          {sign}
        </span>
        <span class="grow what" title={what}>
          {what}
        </span>
        {tookMs !== null && <span class={tookMs > SLOW_MS ? 'took slow' : 'took'}>{tookMs} ms</span>}
        <span class={isBad ? 'status bad' : 'status'}>{ending}</span>
        {(code !== '' || fault !== '') && (
          <span class="why">
            {fault !== '' && <span class="badge warn">fault: {fault.replaceAll('_', ' ')}</span>}
            {code !== '' && <span class={isBad ? 'bad' : ''}>{code}</span>}
          </span>
        )}
      </summary>
      {isOpen && ('entry' in row ? <Bodies entry={row.entry} /> : <Facts request={row.request} />)}
    </details>
  );
}

function Bodies({ entry: { at, request, response } }: { readonly entry: TrafficEntry }) {
  return (
    <div class="bodies">
      <p class="quiet">{momentOf(at)}</p>
      <h4>Request</h4>
      <pre>{describeBody(request)}</pre>
      <h4>Response</h4>
      <pre>{describeBody(response) || '(empty)'}</pre>
    </div>
  );
}

function Facts({ request }: { readonly request: RequestEntry }) {
  const { realAtMs, operation, serverId, ending, fault } = request;
  const facts: readonly (readonly [string, string])[] = [
    ['Sent', momentOf(realAtMs)],
    ['Operation', operation ?? 'unknown to the API'],
    ['Server', serverId === undefined ? '' : `#${serverId}`],
    ['Carried out', ending === 'pending' ? '' : describeWork(request)],
    ['Fault', fault?.replaceAll('_', ' ') ?? ''],
  ];
  return (
    <div class="bodies">
      <dl class="facts">
        {facts
          .filter(([, value]) => value !== '')
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      <p class="quiet">Headers and bodies aren’t stored, because they contain API keys and root passwords.</p>
    </div>
  );
}

/** With a fault, the response may differ from what was carried out. */
function describeWork({ didWork, ending, status }: RequestEntry): string {
  if (!didWork) return 'no';
  return ending === 'answered' && status === 200 ? 'yes' : 'yes, although the response didn’t say so';
}

/** "14:05:09.120" */
function momentOf(at: number): string {
  const how = { timeStyle: 'medium', hourCycle: 'h23' } as const;
  const ms = String(at % 1000).padStart(3, '0');
  return `${new Intl.DateTimeFormat('en-GB', how).format(at)}.${ms}`;
}

function BrokenRules({ brokenRules }: { readonly brokenRules: readonly BrokenRule[] }) {
  return (
    <Section id="broken-rules" title="Slack’s rules">
      {brokenRules.length === 0 && <p class="all-well">✓ None broken</p>}
      <div role="log" aria-label="Broken rules">
        <ul class="broken-rules">
          {brokenRules.toReversed().map((rule, index) => (
            <li key={brokenRules.length - index} class="broken-rule">
              <strong>{rule.rule.replaceAll('_', ' ')}</strong> <time>{clockTime(new Date(rule.at))}</time>
              <div>{rule.words}</div>
            </li>
          ))}
        </ul>
      </div>
    </Section>
  );
}

export function BrokenRuleCount({ brokenRules }: { readonly brokenRules: number }) {
  if (brokenRules === 0) return null;
  return (
    <span class="ping" title={`${brokenRules} broken rules`}>
      {brokenRules}
    </span>
  );
}
