import type { Store } from '../../context.ts';
import type { Account } from '../hosting/accounts.ts';
import { decimalOf } from '../hosting/catalog.ts';
import type { Fault } from '../hosting/faults.ts';
import type { HostingService } from '../hosting/hosting.ts';
import { type RequestEntry, reportFailure } from '../hosting/journal.ts';
import { answerPost, isSameOrigin, sendJson, sendText } from '../slack/http.ts';
import type { Journal } from '../slack/journal.ts';
import type { Pages } from '../slack/server.ts';
import { createTour, findAppKey } from '../tour.ts';
import { findPresetOf, PRESETS, parseAction, performAction } from './actions.ts';
import type {
  PanelAccount,
  PanelAction,
  PanelFault,
  PanelResult,
  PanelState,
  TourStep,
} from './panel-api.ts';

interface PanelParts {
  readonly hosting: HostingService;
  readonly account: Account;
  readonly slack: Pick<Journal, 'onEvent'>;
  readonly store: Store;
  /** Called after every change of the panel's state. */
  readonly onChange: () => void;
  readonly onStep?: (step: TourStep['id']) => unknown;
}

const MONEY_SHOWN = 100;
const REQUESTS_SHOWN = 200;

/** Timers can't wait longer than 24.8 days; an hour is enough here. */
const LONGEST_WAIT_MS = 3_600_000;

/** The app records what it did shortly after it answered, so one check is not enough. */
const CHECK_AFTER_MS = [15, 250, 1000];

/** The panel and the tour, kept up to date by what happens in Slack, the hosting service and the app. */
export class Panel {
  readonly tour: ReturnType<typeof createTour>;
  readonly #parts: PanelParts;
  readonly #stops: readonly (() => void)[];
  #last = '';
  /** After an event. */
  #timer: NodeJS.Timeout | undefined;
  #next = 0;
  /** When time alone changes something. */
  #changeTimer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(parts: PanelParts) {
    const { hosting, slack, onStep = () => undefined } = parts;
    this.#parts = parts;
    this.tour = createTour(parts, onStep);
    this.#stops = [
      hosting.onEvent(() => this.#schedule()),
      slack.onEvent(({ type }) => type !== 'panel' && this.#schedule()),
    ];
  }

  async state(): Promise<PanelState> {
    const { hosting, account, store } = this.#parts;
    return {
      account: panelAccount(hosting, account, await findAppKey(store)),
      servers: hosting.listServers(account),
      money: hosting.journal.money({ accountId: account.id }).slice(-MONEY_SHOWN),
      requests: hosting.requests().slice(-REQUESTS_SHOWN).map(maskKeys),
      tour: this.tour.steps(),
      presets: PRESETS.map(({ id, title, hint }) => ({ id, title, hint })),
    };
  }

  /** Performs an action; every page hears of the new state before the answer. */
  async perform(action: PanelAction): Promise<PanelResult> {
    const done = performAction(this.#parts.hosting, this.#parts.account, action);
    await this.check();
    return done;
  }

  /** Checks now what has happened, one check at a time, and resolves when that is done. */
  check(): Promise<void> {
    this.#running = this.#running
      .then(() => (this.#isClosed ? undefined : this.#look()))
      .catch((error: unknown) => reportFailure('The sandbox could not check what happened', error));
    return this.#running;
  }

  /** Ends all checks; resolves when the last one is done. */
  async close(): Promise<void> {
    for (const stop of this.#stops) stop();
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
    clearTimeout(this.#changeTimer);
  }

  /** Compares with the last state, and checks again when time alone changes something. */
  async #look(): Promise<void> {
    const { hosting, account, onChange } = this.#parts;
    await this.tour.check();
    const state = JSON.stringify(await this.state());
    if (state !== this.#last) onChange();
    this.#last = state;
    clearTimeout(this.#changeTimer);
    const next = hosting.servers.findNextChangeMs(account);
    if (next === undefined) return;
    const waitMs = Math.min(next - hosting.clock.now() + 1, LONGEST_WAIT_MS);
    this.#changeTimer = setTimeout(() => void this.check(), waitMs).unref();
  }

  /** Something happened: schedules the checks, unless the first one is pending already. */
  #schedule(): void {
    if (this.#timer !== undefined && this.#next === 0) return;
    this.#next = 0;
    this.#startTimer();
  }

  #startTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const afterMs = CHECK_AFTER_MS[this.#next];
    if (afterMs === undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#next += 1;
      this.#startTimer();
      void this.check();
    }, afterMs).unref();
  }
}

/** Puts the panel API, whose contract is `panel-api.ts`, in front of the files of the page; `getPanel` is called for each request. */
export function withPanel(pages: Pages, getPanel: () => Panel | undefined): Pages {
  return async (incoming, outgoing) => {
    const [path = ''] = (incoming.url ?? '').split('?');
    if (!path.startsWith('/panel/')) return pages(incoming, outgoing);
    const panel = getPanel();
    if (!panel) return sendText(outgoing, 503, 'the sandbox is starting');
    if (!isSameOrigin(incoming)) return sendText(outgoing, 403, 'not from another site');
    switch (`${incoming.method} ${path}`) {
      case 'GET /panel/state':
        return sendJson(outgoing, 200, await panel.state());
      case 'POST /panel/do':
        return answerPost(incoming, outgoing, async (json) => {
          const action = parseAction(json);
          return action && panel.perform(action);
        });
      default:
        return sendText(outgoing, 404, 'not found');
    }
  };
}

function panelAccount(hosting: HostingService, account: Account, appKey: string | undefined): PanelAccount {
  const used = appKey === undefined ? undefined : hosting.accounts.findKeyEntry(appKey);
  const works = appKey !== undefined && hosting.accounts.findByKey(appKey) !== undefined;
  return {
    name: account.name,
    balance: decimalOf(hosting.balanceOf(account)),
    keys: hosting.accounts
      .listKeys(account)
      .map(({ hash: _, ...key }) => ({ ...key, isUsedByApp: key.id === used?.id })),
    connection: appKey === undefined ? 'none' : works ? 'works' : 'revoked',
    faults: hosting.faults.list().flatMap(panelFault),
    movedMs: hosting.clock.skippedMs,
  };
}

/** A key may have been pasted into the path by mistake. */
function maskKeys(request: RequestEntry): RequestEntry {
  return { ...request, path: request.path.replace(/hk_[\w-]+/g, '[masked]') };
}

/** Faults that only a test can have switched on are left out. */
function panelFault({ id, rule, left }: Fault): readonly PanelFault[] {
  const preset = findPresetOf(rule);
  return preset ? [{ id, preset: preset.id, left: Number.isFinite(left) ? left : null }] : [];
}
