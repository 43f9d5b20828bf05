import { useState } from 'preact/hooks';
import type { PanelAccount } from '../../../../panel/panel-api.ts';
import { Refused, usePanelAction } from '../use-panel-action.tsx';

const QUICK_AMOUNTS = ['10', '50', '200'];

/** The balance, and buttons to top it up. */
export function Balance({ account }: { readonly account: PanelAccount }) {
  const [amount, setAmount] = useState('');
  const { isBusy, refusal, run } = usePanelAction();
  const topUp = async (event: Event) => {
    event.preventDefault();
    const done = await run({ do: 'top_up', amount });
    if (done?.ok) setAmount('');
  };
  return (
    <section aria-labelledby="balance-title">
      <h3 id="balance-title">{account.name}</h3>
      <p class="balance">
        <strong>{account.balance}</strong> <span class="quiet">balance</span>
      </p>
      <form class="row" onSubmit={topUp} aria-busy={isBusy}>
        <QuickAmounts onChoose={(each) => run({ do: 'top_up', amount: each })} />
        <input
          class="text-input amount"
          inputMode="decimal"
          placeholder="Amount"
          aria-label="Amount to top up"
          autocomplete="off"
          value={amount}
          onInput={(event) => setAmount(event.currentTarget.value)}
        />
        <button type="submit" class="button small">
          Top up
        </button>
      </form>
      <Refused words={refusal} />
    </section>
  );
}

function QuickAmounts({ onChoose }: { readonly onChoose: (amount: string) => void }) {
  return (
    <>
      {QUICK_AMOUNTS.map((amount) => (
        <button
          key={amount}
          type="button"
          class="button small"
          aria-label={`Top up ${amount}`}
          onClick={() => onChoose(amount)}
        >
          +{amount}
        </button>
      ))}
    </>
  );
}
