import { useEffect, useReducer, useRef } from 'preact/hooks';
import { emptyScreen, type Screen } from './screen.ts';

let current: Screen = emptyScreen;
const listeners = new Set<() => void>();

/** What the page shows now. */
export function getScreen(): Screen {
  return current;
}

/** Changes the screen: some fields, or by a function of the present screen. */
export function changeScreen(change: Partial<Screen> | ((screen: Screen) => Screen)): void {
  const next = typeof change === 'function' ? change(current) : { ...current, ...change };
  if (next === current) return;
  current = next;
  for (const listener of [...listeners]) listener();
}

/** Calls the listener after every change; the returned function ends that. */
export function onScreen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** A part of the screen; the component is redrawn only when that part has changed. */
export function useScreen<Part>(select: (screen: Screen) => Part): Part {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const part = select(current);
  const shown = useRef({ part, select });
  shown.current = { part, select };
  useEffect(() => {
    const look = () => {
      if (!Object.is(shown.current.select(current), shown.current.part)) redraw(0);
    };
    look();
    return onScreen(look);
  }, []);
  return part;
}
