import type { PanelServer, PanelState, TourStep } from '../../../../panel/panel-api.ts';
import { FaultSwitch } from '../account/faults.tsx';
import { KeyMaker } from '../account/keys.tsx';

/** The parts of the panel that a step needs, inside the step itself. */
export function StepHelp({ id, panel }: { readonly id: TourStep['id']; readonly panel: PanelState }) {
  const lost = panel.presets.find((preset) => preset.id === 'lose_answer');
  if (id === 'connect') return <KeyMaker />;
  if (id === 'reboot') return <Waiting servers={panel.servers} />;
  if (id === 'lose' && lost) return <FaultSwitch preset={lost} faults={panel.account.faults} />;
  return null;
}

/** A server that was just ordered can't be rebooted yet. */
function Waiting({ servers }: { readonly servers: readonly PanelServer[] }) {
  const labels = servers.filter(({ state }) => state === 'creating').map(({ label }) => label);
  if (labels.length === 0 || labels.length < servers.length) return null;
  return (
    <p class="step-wait" role="status">
      <span class="spinner" aria-hidden="true" /> {labels.join(', ')} is still being created. A few more
      seconds…
    </p>
  );
}
