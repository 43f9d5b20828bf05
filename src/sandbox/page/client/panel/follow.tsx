import { useState } from 'preact/hooks';
import type { PanelAction, PanelResult, PanelState } from '../../../panel/panel-api.ts';
import { postAction } from '../actions.ts';
import { stayConnected } from '../live.ts';
import { hasOpenPanel, onPanelWidth } from '../navigate.ts';
import { changeScreen, countDone, getScreen, onScreen } from '../state.ts';

/** A step of the tour may be done shortly after the app has acted. */
const LULL_MS = 600;

/**
 * Keeps the panel up to date. Browsers open six connections to one address, for all tabs and windows together, so only
 * the focused window has one for this. The others, and a closed panel (its button counts the steps), read the state again
 * after each request to the app.
 */
export async function followPanel(): Promise<void> {
  const state = await readPanelState();
  if (state === 'none') return changeScreen({ panel: 'none' });
  if (state) show(state);
  let disconnect: (() => void) | undefined;
  const look = () => {
    const isVisible = document.visibilityState === 'visible' && hasOpenPanel(getScreen());
    if (isVisible && document.hasFocus())
      disconnect ??= stayConnected('/panel/live', ['state'], { onEvent: show });
    else {
      disconnect?.();
      disconnect = undefined;
    }
  };
  onScreen(look);
  onScreen(readAfterTraffic(() => disconnect !== undefined));
  onPanelWidth(look);
  document.addEventListener('visibilitychange', look);
  addEventListener('focus', look);
  addEventListener('blur', look);
  look();
}

function readAfterTraffic(isFollowed: () => boolean): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let seen: unknown;
  const read = async () => {
    const state = await readPanelState();
    if (state && state !== 'none' && !isFollowed()) show(state);
  };
  return () => {
    const last = getScreen().state?.traffic.at(-1);
    if (last === seen || isFollowed() || document.visibilityState !== 'visible') return;
    seen = last;
    clearTimeout(timer);
    timer = setTimeout(read, LULL_MS);
  };
}

/** If the tour is complete when the page opens, the panel starts with the account. */
function show(panel: PanelState): void {
  const isFirst = getScreen().panel === null;
  const isTourDone = countDone(panel.tour) === panel.tour.length;
  changeScreen(isFirst && isTourDone ? { panel, panelTab: 'account' } : { panel });
}

async function readPanelState(): Promise<PanelState | 'none' | undefined> {
  try {
    const answer = await fetch('/panel/state');
    if (answer.ok) return (await answer.json()) as PanelState;
    return answer.status === 404 ? 'none' : undefined;
  } catch {
    return undefined;
  }
}

/** Runs one action on the hosting account at a time; a refusal stays until the next attempt. The change arrives by the event stream. */
export function usePanelAction() {
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState('');
  const run = async (action: PanelAction): Promise<PanelResult | undefined> => {
    if (isBusy) return undefined;
    setBusy(true);
    const done = await postAction<PanelResult>('/panel/do', action);
    setBusy(false);
    setRefusal(done.ok ? '' : done.words);
    return done;
  };
  return { isBusy, refusal, run };
}

/** Why an action was refused, next to its button. */
export function Refused({ words }: { readonly words: string }) {
  return (
    <div role="alert" class={words ? 'refused' : ''}>
      {words}
    </div>
  );
}
