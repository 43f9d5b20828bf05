import { useEffect } from 'preact/hooks';
import type { PageChannel, PageUser } from '../../slack/page-api.ts';
import { followLive } from './live.ts';
import { changeScreen, forgetDrafts, getScreen, markRead, type Screen } from './state.ts';

/** A short look at another tab does not disconnect. */
const HIDDEN_MS = 15_000;

let disconnect: (() => void) | undefined;

/** The page's address for a user, so that several tabs can be several users. */
export function addressOf({ id }: Pick<PageUser, 'id'>): string {
  return `/?as=${encodeURIComponent(id)}${location.hash}`;
}

export function switchUser(id: string): void {
  const known = getScreen().state?.people.find((user) => user.id === id);
  if (known) globalThis.history.pushState(null, '', addressOf(known));
  viewAs(id);
}

export function viewAs(as: string): void {
  disconnect?.();
  forgetDrafts();
  changeScreen({
    as,
    state: null,
    thread: '',
    link: 'connecting',
    drawer: 'none',
    question: null,
    notices: [],
  });
  disconnect = followLive(as);
}

/**
 * Browsers open six connections to one address, for all tabs together: a tab that stays hidden
 * closes its own, and catches up when it is visible again.
 */
export function disconnectWhileHidden(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    const rest = () => {
      disconnect?.();
      disconnect = undefined;
    };
    if (document.visibilityState === 'hidden') timer = setTimeout(rest, HIDDEN_MS);
    else disconnect ??= followLive(getScreen().as);
  });
}

export function selectChannel(channel: PageChannel): void {
  changeScreen((screen) =>
    markRead({ ...screen, channel: channel.id, thread: '', tab: 'messages', drawer: 'none' }),
  );
  const name = channel.kind === 'dm' ? 'dm' : channel.name;
  globalThis.history.replaceState(
    null,
    '',
    `${location.pathname}${location.search}#${encodeURIComponent(name)}`,
  );
}

/** The user that the address names: an id or a name; Olga, the owner, when it names none. */
export function userInAddress(): string {
  return new URLSearchParams(location.search).get('as') || 'olga';
}

const SELECTORS = { sidebar: '.sidebar', panel: '.panel-frame' } as const;

/** Wide screens show the panel next to the messages; on others it is a drawer. */
const wideScreen = matchMedia('(min-width: 1000px)');

/** Shows or hides the panel: next to the messages, or as a drawer. */
export function togglePanel(screen: Screen): Screen {
  return wideScreen.matches
    ? { ...screen, isPanelOpen: !screen.isPanelOpen }
    : { ...screen, drawer: 'panel' };
}

export function hasOpenPanel(screen: Screen): boolean {
  return wideScreen.matches ? screen.isPanelOpen : screen.drawer === 'panel';
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
