import type { Store } from '../../context.ts';
import { Refusal } from '../../core/errors.ts';
import type { Account } from '../hosting/accounts.ts';
import type { HostingService } from '../hosting/hosting.ts';
import { reportFailure } from '../hosting/journal.ts';
import type { Journal } from '../slack/journal.ts';
import { TEAM } from '../slack/workspace.ts';
import { Tour } from '../tour.ts';
import { PRESETS, performAction } from './actions.ts';
import { maskKeys, panelAccount } from './describe.ts';
import type { PanelAction, PanelResult, PanelState, TourStep } from './panel-api.ts';

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
  /** Called after every change of the panel's state. */
  readonly onChange: () => void;
  /** Called once for each step of the tour. */
  readonly onStep?: (step: TourStep['id']) => unknown;
}): Promise<OpenPanel> {
  const { hosting, account, slack, store, onChange, onStep = () => undefined } = parts;
  const findAppKey = () => findKeyOf(store);
  const tour = new Tour({ hosting, account, store, workspaceId: TEAM.id, findAppKey }, onStep);
  const panel = new Panel({ hosting, account, tour, findAppKey, onChange });
  const watcher = new Watcher(async () => {
    await tour.check();
    await panel.check();
  });
  const stops = [
    hosting.onEvent(() => watcher.schedule()),
    slack.onEvent(({ type }) => type !== 'panel' && watcher.schedule()),
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

interface PanelParts {
  readonly hosting: HostingService;
  readonly account: Account;
  readonly tour: Tour;
  /** The app's API key of its workspace; it is only compared. */
  findAppKey(): Promise<string | undefined>;
  onChange(): void;
}

const MONEY_SHOWN = 100;
const REQUESTS_SHOWN = 200;

/** Timers can't wait longer than 24.8 days; an hour is enough here. */
const LONGEST_WAIT_MS = 3_600_000;

/** The panel: its state, and its actions. */
export class Panel {
  readonly #parts: PanelParts;
  #last = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: PanelParts) {
    this.#parts = parts;
  }

  async state(): Promise<PanelState> {
    const { hosting, account, tour, findAppKey } = this.#parts;
    const appKey = await findAppKey();
    return {
      account: panelAccount(hosting, account, appKey),
      servers: hosting.listServers(account),
      money: hosting.journal.money({ accountId: account.id }).slice(-MONEY_SHOWN),
      requests: hosting.requests().slice(-REQUESTS_SHOWN).map(maskKeys),
      tour: tour.steps(),
      presets: PRESETS.map(({ id, title, hint }) => ({ id, title, hint })),
    };
  }

  /** Performs an action; every page hears of the new state before the answer. */
  async perform(action: PanelAction): Promise<PanelResult> {
    const done = performAction(this.#parts.hosting, this.#parts.account, action);
    await this.check();
    return done;
  }

  /** Compares with the last state, and checks again when time alone changes something. */
  async check(): Promise<void> {
    const { hosting, account, onChange } = this.#parts;
    const state = JSON.stringify(await this.state());
    if (state !== this.#last) onChange();
    this.#last = state;
    clearTimeout(this.#timer);
    const next = hosting.servers.findNextChangeMs(account);
    if (next === undefined) return;
    const waitMs = Math.min(next - hosting.clock.now() + 1, LONGEST_WAIT_MS);
    this.#timer = setTimeout(() => void this.check().catch(logFailure), waitMs).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}

function logFailure(error: unknown): void {
  reportFailure('The sandbox panel failed', error);
}

/** The app records what it did shortly after it answered, so one check is not enough. */
const CHECK_AFTER_MS = [15, 250, 1000];

/** Runs a check shortly after something happened, and again a little later; never two at a time. */
class Watcher {
  readonly #check: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #next = 0;
  #running: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(check: () => Promise<void>) {
    this.#check = check;
  }

  /** Something happened: schedules the checks, unless the first one is pending already. */
  schedule(): void {
    if (this.#timer !== undefined && this.#next === 0) return;
    this.#next = 0;
    this.#startTimer();
  }

  /** Checks now and resolves when that is done. */
  checkNow(): Promise<void> {
    this.#running = this.#running.then(async () => {
      if (!this.#isClosed) await this.#check();
    });
    this.#running = this.#running.catch((error: unknown) => {
      reportFailure('The sandbox could not check what happened', error);
    });
    return this.#running;
  }

  /** Ends all checks; resolves when the last one is done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #startTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const afterMs = CHECK_AFTER_MS[this.#next];
    if (afterMs === undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#next += 1;
      this.#startTimer();
      void this.checkNow();
    }, afterMs).unref();
  }
}
