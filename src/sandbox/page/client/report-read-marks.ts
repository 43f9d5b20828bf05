import { perform } from './actions.ts';
import { getScreen, onScreen } from './state/store.ts';

/** Reading a channel that fills quickly should not mean a request for each message. */
const PAUSE_MS = 400;

/** Reports to the local Slack what this user has read, so that other tabs and later visits know it, too. */
export function reportReadMarks(): void {
  let shown = getScreen().read;
  let isWaiting = false;
  const tell = () => {
    isWaiting = false;
    const { read, state } = getScreen();
    const fresh = Object.entries(read).filter(([key, ts]) => shown[key] !== ts);
    shown = read;
    for (const [key, ts] of fresh) {
      const [user, channel = ''] = key.split('/');
      if (user === state?.as.id) void perform({ do: 'read', channel, ts });
    }
  };
  onScreen(() => {
    if (isWaiting || getScreen().read === shown) return;
    isWaiting = true;
    setTimeout(tell, PAUSE_MS);
  });
}
