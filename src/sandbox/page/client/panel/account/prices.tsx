import { useState } from 'preact/hooks';
import type { PanelPrice } from '../../../../panel/panel-api.ts';
import { Refused, usePanelAction } from '../use-panel-action.tsx';

/** The monthly price of each plan; a change applies to the next order. */
export function Prices({ prices }: { readonly prices: readonly PanelPrice[] }) {
  return (
    <section aria-labelledby="prices-title">
      <h3 id="prices-title">Monthly prices</h3>
      <ul class="rows">
        {prices.map((price) => (
          <PriceRow key={price.plan} entry={price} />
        ))}
      </ul>
    </section>
  );
}

function PriceRow({ entry: { plan, price } }: { readonly entry: PanelPrice }) {
  const [typed, setTyped] = useState<string>();
  const { isBusy, refusal, run } = usePanelAction();
  const set = async (event: Event) => {
    event.preventDefault();
    if (typed === undefined) return;
    const done = await run({ do: 'set_price', plan, price: typed });
    if (done?.ok) setTyped(undefined);
  };
  return (
    <li>
      <form class="row" onSubmit={set} aria-busy={isBusy}>
        <span class="grow">{plan}</span>
        <input
          class="text-input amount"
          inputMode="decimal"
          autocomplete="off"
          aria-label={`Monthly price of ${plan}`}
          value={typed ?? price}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <button type="submit" class="button small" disabled={typed === undefined || typed === price}>
          Set
        </button>
      </form>
      <Refused words={refusal} />
    </li>
  );
}
