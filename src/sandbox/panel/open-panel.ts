import type { Store } from '../../context.ts';
import { Refusal } from '../../core/errors.ts';
import type { Account } from '../hosting/accounts.ts';
import type { HostingService } from '../hosting/hosting.ts';
import type { Journal } from '../slack/journal.ts';
import { TEAM } from '../slack/workspace.ts';
import { Tour, type TourDone } from '../tour/tour.ts';
import { Panel } from './panel.ts';
import { Watcher } from './watcher.ts';

/** The panel and the tour, kept up to date by what happens in Slack, the hosting service and the app. */
export interface OpenPanel {
  readonly panel: Panel;
  readonly tour: Tour;
  /** Checks what has happened without waiting for the next event. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the panel of a running sandbox; resolves after its first check. */
export async function openPanel(parts: {
  readonly hosting: HostingService;
  readonly account: Account;
  readonly slack: Pick<Journal, 'onEvent'>;
  readonly store: Store;
  /** The steps that were done in an earlier process. */
  readonly done?: TourDone | undefined;
}): Promise<OpenPanel> {
  const { hosting, account, slack, store, done } = parts;
  const findAppKey = () => findKeyOf(store);
  const tour = new Tour({ hosting, account, store, workspaceId: TEAM.id, findAppKey, done, now: Date.now });
  const panel = new Panel({ hosting, account, tour, findAppKey });
  const watcher = new Watcher(async () => {
    await tour.check();
    await panel.check();
  });
  const stops = [
    hosting.onEvent(() => watcher.schedule()),
    hosting.onChange(() => watcher.schedule()),
    slack.onEvent((event) => {
      tour.observe(event);
      watcher.schedule();
    }),
  ];
  await watcher.checkNow();
  return {
    panel,
    tour,
    check: () => watcher.checkNow(),
    close: async () => {
      for (const stop of stops) stop();
      panel.close();
      await watcher.close();
    },
  };
}

/** Finds the app's API key; one that can't be decrypted counts as none. */
async function findKeyOf(store: Store): Promise<string | undefined> {
  try {
    return (await store.apiKeys.find(TEAM.id))?.key.reveal();
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
