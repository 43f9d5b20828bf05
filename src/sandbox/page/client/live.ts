import type { PageEvent, PageState } from '../../slack/page-api.ts';
import { readPanel } from './panel/follow.tsx';
import { applyEvent, changeScreen, markRead } from './state.ts';

/**
 * Keeps the screen of one user up to date; the returned function ends that. On every connection
 * the whole state is read again, and the events since then are applied to it.
 */
export function followLive(as: string): () => void {
  let waiting: PageEvent[] | undefined = [];
  let latest = 0;
  const resync = async () => {
    void readPanel();
    waiting ??= [];
    latest += 1;
    const attempt = latest;
    const state = await readState(as);
    // The stream is lost, too, and says so.
    if (attempt !== latest || state === 'unreachable' || state === 'unknown_user') return;
    const missed = waiting;
    waiting = undefined;
    show(() => missed.reduce(applyEvent, state));
  };
  const take = (event: PageEvent) => {
    if (event.type === 'reload') void resync();
    else if (event.type === 'panel') void readPanel();
    else if (waiting) waiting.push(event);
    else show((state) => state && applyEvent(state, event));
  };
  const lost = async () => {
    changeScreen({ link: 'lost' });
    // The stream does not say why it was refused; the state does.
    if ((await readState(as)) !== 'unknown_user') return;
    disconnect();
    changeScreen({ link: 'refused' });
  };
  const disconnect = stayConnected(as, { onOpen: resync, onLost: lost, onEvent: take });
  return () => {
    latest += 1;
    disconnect();
  };
}

async function readState(as: string): Promise<PageState | 'unknown_user' | 'unreachable'> {
  try {
    const answer = await fetch(`/page/state?as=${encodeURIComponent(as)}`);
    return answer.ok ? ((await answer.json()) as PageState) : 'unknown_user';
  } catch {
    return 'unreachable';
  }
}

function show(change: (state: PageState | null) => PageState | null): void {
  changeScreen((screen) => {
    const state = change(screen.state);
    if (!state) return screen;
    const isKnown = state.channels.some(({ id }) => id === screen.channel);
    const channel = isKnown ? screen.channel : firstChannel(state);
    const shown = { ...screen, as: state.as.id, state, channel, link: 'live' as const };
    return document.visibilityState === 'visible' ? markRead(shown) : shown;
  });
}

function firstChannel(state: PageState): string {
  const named = decodeURIComponent(location.hash.slice(1));
  const wanted = state.channels.find(({ name, kind }) => (kind === 'dm' ? 'dm' : name) === named);
  const ops = state.channels.find(({ name }) => name === 'ops');
  return (wanted ?? ops ?? state.channels[0])?.id ?? '';
}

/** Pauses between attempts to connect: short at first, then longer. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5000;

/** Receives the events for one user. */
interface StreamListener {
  /** Called on every connection; events before it are not replayed. */
  onOpen(): void;
  onLost?(): void;
  onEvent(event: PageEvent): void;
}

/** Listens, and reconnects when the connection is lost; the returned function ends that. */
export function stayConnected(as: string, { onOpen, onLost, onEvent }: StreamListener): () => void {
  let source: EventSource;
  let pauseMs = FIRST_PAUSE_MS;
  let timer: ReturnType<typeof setTimeout>;
  const connect = () => {
    source = new EventSource(`/page/live?as=${encodeURIComponent(as)}`);
    source.addEventListener('open', () => {
      pauseMs = FIRST_PAUSE_MS;
      onOpen();
    });
    source.addEventListener('error', () => {
      source.close();
      timer = setTimeout(connect, pauseMs);
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      onLost?.();
    });
    source.addEventListener('message', ({ data }: MessageEvent<string>) => onEvent(JSON.parse(data)));
  };
  connect();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}
