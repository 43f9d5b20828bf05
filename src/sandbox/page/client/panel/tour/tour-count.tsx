import { countDone, findPanelState } from '../../state/panel-state.ts';
import { useScreen } from '../../state/store.ts';

/** "2/5"; a check mark when the tour is complete. */
export function TourCount() {
  const words = useScreen((screen) => {
    const steps = findPanelState(screen)?.tour;
    if (!steps) return '';
    const done = countDone(steps);
    return done === steps.length ? '✓' : `${done}/${steps.length}`;
  });
  return words ? <span class="tour-count">{words}</span> : null;
}
