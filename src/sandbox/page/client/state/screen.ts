import type { PanelState } from '../../../panel/panel-api.ts';
import type { Json, PageState } from '../../../slack/page-api.ts';

/** A question that waits for an answer. */
export interface Question {
  /** Slack's confirmation dialog object. */
  readonly dialog: Json;
  readonly answer: (isYes: boolean) => void;
}

/** A text that is shown at the top for a few seconds, usually a refusal. */
export interface Notice {
  readonly id: number;
  readonly words: string;
}

export type PanelTab = 'tour' | 'account' | 'traffic';
export type TrafficKind = 'all' | 'slack' | 'hosting';

/** Everything the page shows; replaced as a whole, never changed in place. */
export interface Screen {
  /** The user of this page: a Slack ID, or a handle until the first state has arrived. */
  readonly as: string;
  readonly state: PageState | null;
  readonly link: 'connecting' | 'live' | 'lost' | 'refused';
  /** The selected channel's id; empty until the first state has arrived. */
  readonly channel: string;
  readonly tab: 'messages' | 'home';
  /** The ts of the first message of the open thread; empty: the channel is shown. */
  readonly thread: string;
  /** Up to which message each user has read each channel in this tab: `personId/channelId` -> ts. */
  readonly read: Readonly<Record<string, string>>;
  readonly drawer: 'none' | 'sidebar' | 'panel';
  readonly isPanelOpen: boolean;
  /** Hosting account and tour; null until they are read, `none` on a page without a sandbox. */
  readonly panel: PanelState | 'none' | null;
  readonly panelTab: PanelTab;
  readonly trafficKind: TrafficKind;
  /** Requests up to these IDs were cleared. */
  readonly cleared: Readonly<Record<Exclude<TrafficKind, 'all'>, number>>;
  /** Text that the panel puts into the composer, until the composer has taken it over. */
  readonly insertedText: string | null;
  readonly notices: readonly Notice[];
  /** A confirmation dialog on top of everything. */
  readonly question: Question | null;
}

export const emptyScreen: Screen = {
  as: 'olga',
  state: null,
  link: 'connecting',
  channel: '',
  tab: 'messages',
  thread: '',
  read: {},
  drawer: 'none',
  isPanelOpen: true,
  panel: null,
  panelTab: 'tour',
  trafficKind: 'all',
  cleared: { slack: 0, hosting: 0 },
  insertedText: null,
  notices: [],
  question: null,
};
