import type { PageChannel, PageUser } from '../../slack/page-api.ts';
import { followLive } from './live.ts';
import { forgetDrafts } from './state/drafts.ts';
import { changeScreen, getScreen } from './state/store.ts';
import { markRead } from './state/unread.ts';

/** A short look at another tab does not disconnect. */
const HIDDEN_MS = 15_000;

let disconnect: (() => void) | undefined;

/** The page's address for a user, so that several tabs can be several users. */
export function addressOf({ id }: Pick<PageUser, 'id'>): string {
  return `/?as=${encodeURIComponent(id)}${location.hash}`;
}

/** Switches this tab to another user. */
export function switchUser(id: string): void {
  const known = getScreen().state?.people.find((user) => user.id === id);
  if (known) globalThis.history.pushState(null, '', addressOf(known));
  viewAs(id);
}

/** Shows what this user sees, from now on. */
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
    if (document.visibilityState === 'hidden') timer = setTimeout(rest, HIDDEN_MS);
    else disconnect ??= followLive(getScreen().as);
  });
}

function rest(): void {
  disconnect?.();
  disconnect = undefined;
}

/** Shows a channel. */
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
