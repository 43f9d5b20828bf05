import { useEffect } from 'preact/hooks';
import type { Screen } from './state/screen.ts';
import { changeScreen } from './state/store.ts';

const SELECTORS = { sidebar: '.sidebar', panel: '.panel-frame' } as const;

/** Wide screens show the panel next to the messages; on others it is a drawer. */
const wideScreen = matchMedia('(min-width: 1000px)');

/** Shows or hides the panel: next to the messages, or as a drawer. */
export function togglePanel(screen: Screen): Screen {
  return wideScreen.matches
    ? { ...screen, isPanelOpen: !screen.isPanelOpen }
    : { ...screen, drawer: 'panel' };
}

/** Whether the panel is visible. */
export function hasOpenPanel(screen: Screen): boolean {
  return wideScreen.matches ? screen.isPanelOpen : screen.drawer === 'panel';
}

/** Calls the listener when the screen becomes wide enough for the panel, or too narrow. */
export function onPanelWidth(listener: () => void): void {
  wideScreen.addEventListener('change', listener);
}

/** An open drawer takes the focus, Escape closes it, and the focus goes back to where it was. */
export function useDrawer(drawer: Screen['drawer']): void {
  useEffect(() => {
    if (drawer === 'none') return;
    const before = document.activeElement;
    document.querySelector<HTMLElement>(`${SELECTORS[drawer]} button`)?.focus();
    const close = () => changeScreen({ drawer: 'none' });
    const closeByKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !event.defaultPrevented) close();
    };
    document.addEventListener('keydown', closeByKey);
    wideScreen.addEventListener('change', close);
    return () => {
      document.removeEventListener('keydown', closeByKey);
      wideScreen.removeEventListener('change', close);
      // Text that the panel put into the composer is sent from there: keep the focus.
      const isWriting = document.activeElement?.closest('.composer');
      if (before instanceof HTMLElement && before.isConnected && !isWriting) before.focus();
    };
  }, [drawer]);
}
