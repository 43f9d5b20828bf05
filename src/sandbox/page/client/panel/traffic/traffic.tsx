import type { PanelRequest } from '../../../../panel/panel-api.ts';
import type { BrokenRule, TrafficEntry } from '../../../../slack/page-api.ts';
import type { TrafficKind } from '../../state/screen.ts';
import { changeScreen, useScreen } from '../../state/store.ts';
import { BrokenRules } from './broken-rules.tsx';
import { RequestRow } from './request-row.tsx';
import { mergeTraffic } from './rows.ts';

const SHOWN = 150;

const KINDS: readonly (readonly [TrafficKind, string])[] = [
  ['all', 'All'],
  ['slack', 'Slack ↔ app'],
  ['hosting', 'App ↔ hosting'],
];

interface TrafficProps {
  readonly brokenRules: readonly BrokenRule[];
  readonly entries: readonly TrafficEntry[];
  readonly requests: readonly PanelRequest[];
}

/** Every request between Slack, the app and the hosting API, newest first. */
export function Traffic({ brokenRules, entries, requests }: TrafficProps) {
  const kind = useScreen((screen) => screen.trafficKind);
  const cleared = useScreen((screen) => screen.cleared);
  const hasHosting = useScreen((screen) => screen.panel !== 'none');
  const rows = mergeTraffic(entries, requests, kind, cleared);
  const clear = () =>
    changeScreen({ cleared: { slack: entries.at(-1)?.id ?? 0, hosting: requests.at(-1)?.id ?? 0 } });
  return (
    <>
      <BrokenRules brokenRules={brokenRules} />
      <section aria-labelledby="traffic-title">
        <div class="traffic-head">
          <h3 id="traffic-title">Requests</h3>
          {rows.length > 0 && (
            <button type="button" class="button small" onClick={clear}>
              Clear
            </button>
          )}
        </div>
        {hasHosting && <Kinds chosen={kind} />}
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
      </section>
    </>
  );
}

function Kinds({ chosen }: { readonly chosen: TrafficKind }) {
  return (
    <fieldset class="segments">
      <legend class="visually-hidden">Which requests</legend>
      {KINDS.map(([kind, words]) => (
        <label key={kind} class="segment">
          <input
            type="radio"
            name="traffic-kind"
            class="visually-hidden"
            checked={kind === chosen}
            onChange={() => changeScreen({ trafficKind: kind })}
          />
          {words}
        </label>
      ))}
    </fieldset>
  );
}
