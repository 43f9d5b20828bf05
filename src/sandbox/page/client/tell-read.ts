import { perform } from './deeds.ts';
import { getScreen, onScreen } from './state/store.ts';

/** Reading a channel that fills quickly should not mean a request for each message. */
const PAUSE_MS = 400;

/** Tells the local Slack what this person has read, so that other tabs and later days know it, too. */
export function tellWhatIsRead(): void {
  let told = getScreen().read;
  let isWaiting = false;
  const tell = () => {
    isWaiting = false;
    const { read, state } = getScreen();
    const fresh = Object.entries(read).filter(([key, ts]) => told[key] !== ts);
    told = read;
    for (const [key, ts] of fresh) {
      const [person, channel = ''] = key.split('/');
      if (person === state?.as.id) void perform({ do: 'read', channel, ts });
    }
  };
  onScreen(() => {
    if (isWaiting || getScreen().read === told) return;
    isWaiting = true;
    setTimeout(tell, PAUSE_MS);
  });
}
