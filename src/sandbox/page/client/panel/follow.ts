import type { PanelEvent, PanelState } from '../../../panel/panel-api.ts';
import { hasOpenPanel, onPanelWidth } from '../drawer.ts';
import { applyBeside } from '../state/apply-beside.ts';
import { countDone } from '../state/beside.ts';
import { changeScreen, getScreen, onScreen } from '../state/store.ts';
import { stayConnected } from '../stream.ts';

const EVENTS: readonly PanelEvent['type'][] = ['account', 'servers', 'money', 'request', 'tour'];

/** After the app has done something, a step of the tour may be done. */
const LULL_MS = 600;

/**
 * Keeps what stands beside the chat up to date. Browsers open six connections to one address, for all tabs and
 * windows together: only the window that somebody works in has one for this. The others, and a closed panel, whose
 * button counts the steps, read it again after the app was asked something.
 */
export async function followBeside(): Promise<void> {
  const state = await readBeside();
  if (state === 'none') return changeScreen({ beside: 'none' });
  if (state) show(state);
  let hangUp: (() => void) | undefined;
  const look = () => {
    const isInSight = document.visibilityState === 'visible' && hasOpenPanel(getScreen());
    if (isInSight && document.hasFocus()) hangUp ??= connect();
    else {
      hangUp?.();
      hangUp = undefined;
    }
  };
  onScreen(look);
  onScreen(readAfterTraffic(() => hangUp !== undefined));
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
    const state = await readBeside();
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

/** On every connection everything is read again, and what happened meanwhile is applied after it. */
function connect(): () => void {
  let waiting: PanelEvent[] | undefined = [];
  let asked = 0;
  const resync = async () => {
    waiting ??= [];
    asked += 1;
    const turn = asked;
    const state = await readBeside();
    if (turn !== asked || !state || state === 'none') return;
    const happened = waiting;
    waiting = undefined;
    show(happened.reduce(applyBeside, state));
  };
  const take = (event: PanelEvent) => {
    const { beside } = getScreen();
    if (waiting) waiting.push(event);
    else if (beside && beside !== 'none') changeScreen({ beside: applyBeside(beside, event) });
  };
  const hangUp = stayConnected<PanelEvent>('/panel/live', EVENTS, {
    onOpen: resync,
    onLost: () => {
      waiting ??= [];
    },
    onEvent: take,
  });
  return () => {
    asked += 1;
    hangUp();
  };
}

/** Whoever has finished the tour before opening the page starts with the account. */
function show(beside: PanelState): void {
  const isFirst = getScreen().beside === null;
  const isTourDone = countDone(beside.tour) === beside.tour.length;
  changeScreen(isFirst && isTourDone ? { beside, panelTab: 'account' } : { beside });
}

async function readBeside(): Promise<PanelState | 'none' | undefined> {
  try {
    const answer = await fetch('/panel/state');
    if (answer.ok) return (await answer.json()) as PanelState;
    return answer.status === 404 ? 'none' : undefined;
  } catch {
    return undefined;
  }
}
