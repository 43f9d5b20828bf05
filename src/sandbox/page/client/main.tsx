import { render } from 'preact';
import { perform } from './actions.ts';
import { App } from './app.tsx';
import { showGallery } from './gallery/gallery.tsx';
import { stayConnected } from './live.ts';
import { disconnectWhileHidden, userInAddress, viewAs } from './navigate.ts';
import { AccountPage } from './panel/account.tsx';
import { readPanel } from './panel/follow.tsx';
import { changeScreen, countUnread, getScreen, markRead, onScreen } from './state.ts';
import './styles/index.css';

const frame = document.getElementById('page');
if (frame && location.pathname === '/gallery') await showGallery(frame);
else if (frame && location.pathname === '/account') showAccount(frame);
else if (frame) await showChat(frame);

function showAccount(frame: HTMLElement): void {
  document.title = 'Hosting account · Sandbox';
  render(<AccountPage />, frame);
  stayConnected(userInAddress(), {
    onOpen: readPanel,
    onEvent: ({ type }) => void (type === 'panel' && readPanel()),
  });
}

async function showChat(frame: HTMLElement): Promise<void> {
  render(<App />, frame);
  changeScreen({ as: userInAddress() });
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  // A reload loses ephemeral messages and open modals; opening a second tab does not.
  if (navigation?.type === 'reload') await perform({ do: 'reload' });
  viewAs(userInAddress());
  disconnectWhileHidden();
  addEventListener('popstate', () => {
    if (userInAddress() !== getScreen().as) viewAs(userInAddress());
  });
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') changeScreen(markRead);
  });
  // Another tab has read something.
  addEventListener('storage', () => changeScreen((screen) => ({ ...screen })));
  // As in Slack, typing anywhere goes to the composer.
  document.addEventListener('keydown', (event) => {
    const isLetter =
      event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey && event.key !== ' ';
    if (isLetter && document.activeElement === document.body && !document.querySelector('dialog[open]'))
      document.querySelector<HTMLElement>('.composer textarea')?.focus();
  });
  onScreen(() => {
    const screen = getScreen();
    const { state } = screen;
    if (!state) return;
    const pings = state.channels.reduce((sum, channel) => sum + countUnread(screen, channel).pings, 0);
    const channel = state.channels.find(({ id }) => id === screen.channel);
    const title = `${pings > 0 ? `(${pings}) ` : ''}${channel?.kind === 'dm' ? '' : '#'}${channel?.name ?? ''} · ${state.as.realName} · Sandbox`;
    if (document.title !== title) document.title = title;
  });
}
