import type { PanelState } from '../../../../panel/panel-api.ts';
import { Links } from '../links.tsx';
import { Balance } from './balance.tsx';
import { Faults } from './faults.tsx';
import { Keys } from './keys.tsx';
import { Money } from './money.tsx';
import { Prices } from './prices.tsx';
import { Servers } from './servers.tsx';
import { Time } from './time.tsx';

/** The hosting account that the app works for, and what can be made to go wrong there. */
export function Account({ panel }: { readonly panel: PanelState }) {
  const { account, servers, money, presets } = panel;
  return (
    <>
      <Balance account={account} />
      <Keys account={account} />
      <Servers servers={servers} movedMs={account.movedMs} />
      <Money entries={money} />
      <Time movedMs={account.movedMs} />
      <Faults presets={presets} faults={account.faults} />
      <Prices prices={account.prices} />
      <Links />
    </>
  );
}
