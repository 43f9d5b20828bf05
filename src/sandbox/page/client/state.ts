import { useEffect, useReducer, useRef } from 'preact/hooks';
import type { PanelState, TourStep } from '../../panel/panel-api.ts';
import type {
  AtElement,
  Entered,
  Json,
  PageChannel,
  PageEvent,
  PageMessage,
  PagePlace,
  PageState,
} from '../../slack/page-api.ts';

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
  readonly drawer: 'none' | 'sidebar' | 'panel';
  readonly isPanelOpen: boolean;
  /** Hosting account and tour; null until they are read, which a local Slack without a sandbox doesn't have. */
  readonly panel: PanelState | null;
  readonly panelTab: PanelTab;
  readonly trafficKind: TrafficKind;
  /** Text that the panel puts into the composer, until the composer has taken it over. */
  readonly insertedText: string | null;
  readonly notices: readonly Notice[];
  /**
   * What was entered on this page. As in Slack it stays when the app updates the view or the message, as long as block and
   * element keep their IDs; it is sent to the server, but the server's events don't restore it.
   */
  readonly drafts: ReadonlyMap<string, Entered>;
  /** A confirmation dialog on top of everything. */
  readonly question: Question | null;
}

let current: Screen = {
  as: 'olga',
  state: null,
  link: 'connecting',
  channel: '',
  tab: 'messages',
  thread: '',
  drawer: 'none',
  isPanelOpen: true,
  panel: null,
  panelTab: 'tour',
  trafficKind: 'all',
  insertedText: null,
  notices: [],
  drafts: new Map(),
  question: null,
};

const listeners = new Set<() => void>();

export function getScreen(): Screen {
  return current;
}

export function changeScreen(change: Partial<Screen> | ((screen: Screen) => Screen)): void {
  const next = typeof change === 'function' ? change(current) : { ...current, ...change };
  if (next === current) return;
  current = next;
  for (const listener of [...listeners]) listener();
}

/** Calls the listener after every change; the returned function ends that. */
export function onScreen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** A part of the screen; the component is redrawn only when that part has changed. */
export function useScreen<Part>(select: (screen: Screen) => Part): Part {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const part = select(current);
  const shown = useRef({ part, select });
  shown.current = { part, select };
  useEffect(() => {
    const look = () => {
      if (!Object.is(shown.current.select(current), shown.current.part)) redraw(0);
    };
    look();
    return onScreen(look);
  }, []);
  return part;
}

/** As many requests as the page shows; a sandbox may run for days. */
const TRAFFIC_KEPT = 300;

/** What a user sees after an event. The same event twice makes no difference: events are replayed after a resync. */
export function applyEvent(state: PageState, event: PageEvent): PageState {
  switch (event.type) {
    case 'message':
    case 'message_changed':
      return changeMessages(state, event.message.channel, (messages) => putMessage(messages, event.message));
    case 'message_deleted':
      return changeMessages(state, event.channel, (messages) => messages.filter(({ ts }) => ts !== event.ts));
    case 'views':
      return { ...state, views: event.views };
    case 'home':
      return { ...state, home: event.view };
    case 'traffic': {
      const others = state.traffic.filter(({ id }) => id !== event.entry.id);
      return { ...state, traffic: [...others, event.entry].slice(-TRAFFIC_KEPT) };
    }
    case 'broken_rule': {
      const { rule } = event;
      const isKnown = state.brokenRules.some(
        (each) => each.at === rule.at && each.rule === rule.rule && each.words === rule.words,
      );
      return isKnown ? state : { ...state, brokenRules: [...state.brokenRules, rule] };
    }
    case 'panel':
    case 'reload':
      return state;
  }
}

function changeMessages(
  state: PageState,
  channelId: string,
  change: (messages: readonly PageMessage[]) => readonly PageMessage[],
): PageState {
  return {
    ...state,
    channels: state.channels.map((channel) =>
      channel.id === channelId ? { ...channel, messages: change(channel.messages) } : channel,
    ),
  };
}

function putMessage(messages: readonly PageMessage[], message: PageMessage): readonly PageMessage[] {
  const at = messages.findIndex(({ ts }) => ts === message.ts);
  if (at >= 0) return messages.with(at, message);
  const after = messages.findLastIndex(({ ts }) => ts < message.ts);
  return messages.toSpliced(after + 1, 0, message);
}

/** The browser keeps here, for all of its tabs, up to which message a user has read a channel. */
const readKey = ({ as }: PageState, channel: PageChannel) => `read ${as.id}/${channel.id}`;

/** How many messages this user has not seen, and how many of them notify the user by name. */
export function countUnread({ state }: Screen, channel: PageChannel) {
  if (!state) return { count: 0, pings: 0 };
  const upTo = localStorage.getItem(readKey(state, channel)) ?? '';
  const isDm = channel.kind === 'dm';
  const names = [`@${state.as.name}`, '@channel', '@here', '@everyone'];
  const from = channel.messages.findLastIndex(({ ts }) => ts <= upTo) + 1;
  const fresh = channel.messages.slice(from).filter(({ user }) => user !== state.as.id);
  const pings = fresh.filter((message) => isDm || message.pings.some((name) => names.includes(name)));
  return { count: fresh.length, pings: pings.length };
}

export function markRead(screen: Screen): Screen {
  const { state, tab } = screen;
  const channel = state?.channels.find(({ id }) => id === screen.channel);
  const last = channel?.messages.at(-1)?.ts;
  if (!state || !channel || !last || (channel.kind === 'dm' && tab === 'home')) return screen;
  const key = readKey(state, channel);
  if ((localStorage.getItem(key) ?? '') >= last) return screen;
  localStorage.setItem(key, last);
  return { ...screen };
}

/** Options chosen from an external select: only the app knows their texts. */
const options = new Map<string, Json>();

const placeKey = (place: PagePlace) => ('view' in place ? place.view : `${place.channel}/${place.ts}`);
const keyOf = ({ place, block, action }: AtElement) => JSON.stringify([placeKey(place), block, action]);

export function setDraft(spot: AtElement, value: Entered | undefined): void {
  const drafts = new Map(current.drafts);
  if (value === undefined) drafts.delete(keyOf(spot));
  else drafts.set(keyOf(spot), value);
  changeScreen({ drafts });
}

export function findDraft({ drafts }: Screen, spot: AtElement): Entered | undefined {
  return drafts.get(keyOf(spot));
}

export function rememberOption(spot: AtElement, option: Json): void {
  options.set(`${keyOf(spot)} ${String(option.value)}`, option);
}

export function findOption(spot: AtElement, value: string): Json | undefined {
  return options.get(`${keyOf(spot)} ${value}`);
}

/** Forgets everything that was entered, when the user changes or the client is reloaded. */
export function forgetDrafts(): void {
  changeScreen({ drafts: new Map() });
  options.clear();
}

/** Epoch milliseconds of the sandbox, whose time the panel moves ahead. */
export function sandboxNow(): number {
  return Date.now() + (getScreen().panel?.account.movedMs ?? 0);
}

export function countDone(steps: readonly TourStep[]): number {
  return steps.filter(({ isDone }) => isDone).length;
}

/** Puts a command into the composer of the open conversation, ready to be sent. */
export function insertCommand(text: string): void {
  changeScreen({ insertedText: text, drawer: 'none', tab: 'messages' });
}

export function confirmed(dialog: Json): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (isYes: boolean) => {
      changeScreen({ question: null });
      resolve(isYes);
    };
    changeScreen({ question: { dialog, answer } });
  });
}
