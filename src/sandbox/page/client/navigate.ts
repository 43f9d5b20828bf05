import type { PageChannel, PageUser } from '../../slack/page-api.ts';
import { followLive } from './live.ts';
import { forgetDrafts } from './state/drafts.ts';
import { changeScreen, getScreen } from './state/store.ts';
import { markRead } from './state/unread.ts';

/** A look at another tab is no reason to hang up. */
const HIDDEN_MS = 15_000;

let leave: (() => void) | undefined;

/** The page's address for a user, so that several tabs can be several people. */
export function addressOf({ id }: Pick<PageUser, 'id'>): string {
  return `/?as=${encodeURIComponent(id)}${location.hash}`;
}

/** Somebody else sits down in this tab. */
export function switchUser(id: string): void {
  const known = getScreen().state?.people.find((user) => user.id === id);
  if (known) globalThis.history.pushState(null, '', addressOf(known));
  viewAs(id);
}

/** Follows what this user sees, from now on. */
export function viewAs(as: string): void {
  leave?.();
  forgetDrafts();
  changeScreen({ as, state: null, link: 'connecting', drawer: 'none', question: null, notices: [] });
  leave = followLive(as);
}

/**
 * Browsers open six connections to one address, for all tabs together: a tab that stays hidden gives
 * its own back, and catches up when somebody looks at it again.
 */
export function disconnectWhileHidden(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    if (document.visibilityState === 'hidden') timer = setTimeout(rest, HIDDEN_MS);
    else leave ??= followLive(getScreen().as);
  });
}

function rest(): void {
  leave?.();
  leave = undefined;
}

/** Shows a channel. */
export function selectChannel(channel: PageChannel): void {
  changeScreen((screen) => markRead({ ...screen, channel: channel.id, tab: 'messages', drawer: 'none' }));
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
