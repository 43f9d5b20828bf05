import { useId } from 'preact/hooks';
import type { FaultPreset, PanelFault } from '../../../../panel/panel-api.ts';
import { Refused, usePanelAction } from '../use-panel-action.tsx';

interface FaultsProps {
  readonly presets: readonly FaultPreset[];
  readonly faults: readonly PanelFault[];
}

/** The faults that the hosting service can be switched to. */
export function Faults({ presets, faults }: FaultsProps) {
  const known = presets.map(({ id }) => id);
  const others = faults.filter(({ preset }) => preset === null || !known.includes(preset));
  return (
    <section aria-labelledby="faults-title">
      <h3 id="faults-title">
        Faults {faults.length > 0 && <span class="badge warn">{faults.length} on</span>}
      </h3>
      <ul class="rows faults">
        {presets.map((preset) => (
          <li key={preset.id}>
            <FaultSwitch preset={preset} faults={faults} />
          </li>
        ))}
        {others.map((fault) => (
          <li key={fault.id}>
            <OtherFault fault={fault} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface FaultSwitchProps {
  readonly preset: FaultPreset;
  readonly faults: readonly PanelFault[];
}

/** One fault: it affects the next request, or all until it is switched off. */
export function FaultSwitch({ preset: { id, title, hint }, faults }: FaultSwitchProps) {
  const on = faults.filter(({ preset }) => preset === id);
  const { isBusy, refusal, run } = usePanelAction();
  const hintId = useId();
  const toggle = async () => {
    if (on.length === 0) await run({ do: 'add_fault', preset: id });
    for (const fault of on) await run({ do: 'remove_fault', fault: fault.id });
  };
  return (
    <div class="fault">
      <button
        type="button"
        role="switch"
        class="switch"
        aria-checked={on.length > 0}
        aria-busy={isBusy}
        aria-describedby={hintId}
        onClick={toggle}
      >
        <span class="switch-knob" aria-hidden="true" />
        <span class="switch-words">{title}</span>
      </button>
      <p id={hintId} class="fault-hint">
        {hint} {on.length > 0 && <strong>{describeLeft(on)}</strong>}
      </p>
      <Refused words={refusal} />
    </div>
  );
}

function describeLeft(faults: readonly PanelFault[]): string {
  if (faults.some(({ left }) => left === null)) return 'Stays on until you switch it off.';
  const left = faults.reduce((sum, fault) => sum + (fault.left ?? 0), 0);
  return left === 1 ? 'Affects the next matching request.' : `Affects the next ${left} matching requests.`;
}

function OtherFault({ fault: { id, title } }: { readonly fault: PanelFault }) {
  const { refusal, run } = usePanelAction();
  return (
    <div class="fault">
      <div class="row">
        <span class="grow">{title}</span>
        <button type="button" class="button small" onClick={() => run({ do: 'remove_fault', fault: id })}>
          Switch off
        </button>
      </div>
      <Refused words={refusal} />
    </div>
  );
}
