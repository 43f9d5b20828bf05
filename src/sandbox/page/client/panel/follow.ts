import type { PanelEvent, PanelState } from '../../../panel/panel-api.ts';
import { hasOpenPanel, onPanelWidth } from '../drawer.ts';
import { applyPanelEvent } from '../state/apply-panel-event.ts';
import { countDone } from '../state/panel-state.ts';
import { changeScreen, getScreen, onScreen } from '../state/store.ts';
import { stayConnected } from '../stream.ts';

const EVENTS: readonly PanelEvent['type'][] = ['account', 'servers', 'money', 'request', 'tour'];

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
    if (isVisible && document.hasFocus()) disconnect ??= connect();
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

/** On every connection the whole state is read again, and the events since then are applied to it. */
function connect(): () => void {
  let waiting: PanelEvent[] | undefined = [];
  let latest = 0;
  const resync = async () => {
    waiting ??= [];
    latest += 1;
    const attempt = latest;
    const state = await readPanelState();
    if (attempt !== latest || !state || state === 'none') return;
    const missed = waiting;
    waiting = undefined;
    show(missed.reduce(applyPanelEvent, state));
  };
  const take = (event: PanelEvent) => {
    const { panel } = getScreen();
    if (waiting) waiting.push(event);
    else if (panel && panel !== 'none') changeScreen({ panel: applyPanelEvent(panel, event) });
  };
  const disconnect = stayConnected<PanelEvent>('/panel/live', EVENTS, {
    onOpen: resync,
    onLost: () => {
      waiting ??= [];
    },
    onEvent: take,
  });
  return () => {
    latest += 1;
    disconnect();
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
