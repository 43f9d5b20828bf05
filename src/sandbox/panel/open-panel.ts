import type { Store } from '../../app/ports.ts';
import { Refusal } from '../../domain/errors.ts';
import type { Account } from '../hosting/accounts.ts';
import type { HostingService } from '../hosting/hosting.ts';
import type { LocalSlack } from '../slack/slack.ts';
import { TEAM } from '../slack/workspace.ts';
import { Tour, type TourDone } from '../tour/tour.ts';
import { Lookout } from './lookout.ts';
import { Panel } from './panel.ts';

/** The panel and the tour, watching the three that they stand beside. */
export interface OpenPanel {
  readonly panel: Panel;
  readonly tour: Tour;
  /** Looks at what has happened without waiting for the next event. */
  look(): Promise<void>;
  close(): Promise<void>;
}

/** Puts the panel beside a running sandbox; resolves when it has had its first look. */
export async function openPanel(beside: {
  readonly hosting: HostingService;
  readonly account: Account;
  readonly slack: LocalSlack;
  readonly store: Store;
  /** What is kept of the tour from an earlier process. */
  readonly done?: TourDone | undefined;
}): Promise<OpenPanel> {
  const { hosting, account, slack, store, done } = beside;
  const findAppKey = () => findKeyOf(store);
  const tour = new Tour({ hosting, account, store, workspaceId: TEAM.id, findAppKey, done, now: Date.now });
  const panel = new Panel({ hosting, account, tour, findAppKey });
  const lookout = new Lookout(async () => {
    await tour.look();
    await panel.look();
  });
  const stops = [
    hosting.onEvent(() => lookout.notice()),
    hosting.onChange(() => lookout.notice()),
    slack.onEvent((event) => {
      tour.hear(event);
      lookout.notice();
    }),
  ];
  await lookout.lookNow();
  return {
    panel,
    tour,
    look: () => lookout.lookNow(),
    close: async () => {
      for (const stop of stops) stop();
      panel.close();
      await lookout.close();
    },
  };
}

/** One that can't be opened any more is as good as none. */
async function findKeyOf(store: Store): Promise<string | undefined> {
  try {
    return (await store.apiKeys.find(TEAM.id))?.key.reveal();
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
