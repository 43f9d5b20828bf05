import { useEffect, useReducer } from 'preact/hooks';
import type { PanelAction } from '../../../../panel/panel-api.ts';
import { Refused, usePanelAction } from '../use-panel-action.tsx';
import { describeMove, momentAt } from './service-time.ts';

type Step = Extract<PanelAction, { do: 'skip_time' }>['step'];

const STEPS: readonly (readonly [Step, string])[] = [
  ['hour', 'An hour later'],
  ['day', 'A day later'],
  ['month', 'A month later'],
];
const REDRAW_MS = 20_000;

/** The time of the hosting service, the app and Slack, and buttons to move it forward. */
export function Time({ movedMs }: { readonly movedMs: number }) {
  const { isBusy, refusal, run } = usePanelAction();
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const timer = setInterval(() => redraw(0), REDRAW_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <section aria-labelledby="time-title" aria-busy={isBusy}>
      <h3 id="time-title">Time in the sandbox</h3>
      <p>
        {momentAt(Date.now() + movedMs)}
        {movedMs > 0 && <span class="quiet"> · {describeMove(movedMs)} ahead</span>}
      </p>
      <div class="row">
        {STEPS.map(([step, words]) => (
          <button
            key={step}
            type="button"
            class="button small"
            onClick={() => run({ do: 'skip_time', step })}
          >
            {words}
          </button>
        ))}
      </div>
      <Refused words={refusal} />
    </section>
  );
}
