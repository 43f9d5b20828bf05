import type { PanelState, TourStep } from '../../../panel/panel-api.ts';
import type { Screen } from './screen.ts';
import { changeScreen, getScreen, useScreen } from './store.ts';

/** The panel's state once it is read; null on a page without a panel. */
export function findPanelState({ panel }: Screen): PanelState | null {
  return panel === 'none' ? null : panel;
}

/** The same as a hook: the component is redrawn when it changes. */
export function usePanelState(): PanelState | null {
  return useScreen(findPanelState);
}

/** Epoch milliseconds of the sandbox, whose time the panel moves ahead. */
export function sandboxNow(): number {
  return Date.now() + (findPanelState(getScreen())?.account.movedMs ?? 0);
}

/** How many steps of the tour are done. */
export function countDone(steps: readonly TourStep[]): number {
  return steps.filter(({ isDone }) => isDone).length;
}

/** Puts a command into the composer of the open conversation, ready to be sent. */
export function insertCommand(text: string): void {
  changeScreen({ insertedText: text, drawer: 'none', tab: 'messages' });
}
