import type { PanelState, TourStep } from '../../../panel/panel-api.ts';
import type { Screen } from './screen.ts';
import { changeScreen, useScreen } from './store.ts';

/** What stands beside the chat, once it was read; null on a page without it. */
export function findBeside({ beside }: Screen): PanelState | null {
  return beside === 'none' ? null : beside;
}

/** The same, and the component is drawn again when it changes. */
export function useBeside(): PanelState | null {
  return useScreen(findBeside);
}

/** How many steps of the tour are done. */
export function countDone(steps: readonly TourStep[]): number {
  return steps.filter(({ isDone }) => isDone).length;
}

/** Puts a text into the composer of the open conversation, ready to be sent. */
export function dictate(text: string): void {
  changeScreen({ dictated: text, drawer: 'none', tab: 'messages' });
}
