import type { PageEvent, PageState } from '../../slack/page-api.ts';
import { applyEvent } from './state/apply.ts';
import { changeScreen } from './state/store.ts';
import { markRead } from './state/unread.ts';
import { stayConnected } from './stream.ts';

const EVENTS: readonly PageEvent['type'][] = [
  'message',
  'message_changed',
  'message_deleted',
  'views',
  'home',
  'traffic',
  'broken_law',
  'reload',
];

/**
 * Keeps the screen of one person up to date; the function given back ends that. On every connection
 * the whole state is read again, and what happened meanwhile is applied after it.
 */
export function followLive(as: string): () => void {
  let waiting: PageEvent[] | undefined = [];
  let asked = 0;
  const resync = async () => {
    waiting ??= [];
    asked += 1;
    const turn = asked;
    const state = await readState(as);
    // Whoever can't be read is told so by the stream, which is lost, too.
    if (turn !== asked || state === 'unreachable' || state === 'nobody') return;
    const happened = waiting;
    waiting = undefined;
    show(() => happened.reduce(applyEvent, state));
  };
  const take = (event: PageEvent) => {
    if (event.type === 'reload') void resync();
    else if (waiting) waiting.push(event);
    else show((state) => state && applyEvent(state, event));
  };
  const lost = async () => {
    changeScreen({ link: 'lost' });
    // The stream does not say why it was refused; the state does.
    if ((await readState(as)) !== 'nobody') return;
    hangUp();
    changeScreen({ link: 'refused' });
  };
  const hangUp = stayConnected<PageEvent>(`/page/live?as=${encodeURIComponent(as)}`, EVENTS, {
    onOpen: resync,
    onLost: lost,
    onEvent: take,
  });
  return () => {
    asked += 1;
    hangUp();
  };
}

async function readState(as: string): Promise<PageState | 'nobody' | 'unreachable'> {
  try {
    const answer = await fetch(`/page/state?as=${encodeURIComponent(as)}`);
    return answer.ok ? ((await answer.json()) as PageState) : 'nobody';
  } catch {
    return 'unreachable';
  }
}

function show(change: (state: PageState | null) => PageState | null): void {
  changeScreen((screen) => {
    const state = change(screen.state);
    if (!state) return screen;
    const isThere = state.channels.some(({ id }) => id === screen.channel);
    const channel = isThere ? screen.channel : firstChannel(state);
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
