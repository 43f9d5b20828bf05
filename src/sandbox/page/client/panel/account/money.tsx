import type { PanelMoney } from '../../../../panel/panel-api.ts';
import { momentAt } from './service-time.ts';

const SIGNS: Readonly<Record<PanelMoney['kind'], string>> = { top_up: '+', charge: '−', refund: '+' };
const WORDS: Readonly<Record<PanelMoney['kind'], string>> = {
  top_up: 'Top-up',
  charge: 'Charge',
  refund: 'Refund',
};

/** The last top-ups, charges and refunds, newest first. */
export function Money({ entries }: { readonly entries: readonly PanelMoney[] }) {
  return (
    <section aria-labelledby="money-title">
      <h3 id="money-title">Charges and refunds</h3>
      {entries.length === 0 && <p class="quiet">Nothing yet.</p>}
      <ol class="rows scrolling">
        {entries.toReversed().map(({ id, at, kind, amount, what }) => (
          <li key={id} class="row" title={momentAt(at)}>
            <span class={`badge ${kind}`}>{WORDS[kind]}</span>
            <span class="grow what">{kind === 'top_up' ? '' : what}</span>
            <span class={`sum ${kind}`}>
              {SIGNS[kind]}
              {amount}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
