import type { Account } from '../hosting/accounts.ts';
import type { HostingService } from '../hosting/hosting.ts';
import { reportFailure } from '../hosting/report-failure.ts';
import type { Tour } from '../tour/tour.ts';
import { performAction } from './actions.ts';
import {
  panelAccount,
  panelMoney,
  panelMovements,
  panelRequest,
  panelRequests,
  panelServers,
} from './describe.ts';
import type { PanelAction, PanelEvent, PanelResult, PanelServer, PanelState } from './panel-api.ts';
import { PRESETS } from './presets.ts';

export interface PanelParts {
  readonly hosting: HostingService;
  readonly account: Account;
  readonly tour: Tour;
  /** The app's API key of its workspace; it is only compared. */
  findAppKey(): Promise<string | undefined>;
}

export type PanelListener = (event: PanelEvent) => void;

/** Timers can't wait longer than 24.8 days; an hour is enough here. */
const LONGEST_WAIT_MS = 3_600_000;

/** The panel: its state, its actions, and its events. */
export class Panel {
  readonly #parts: PanelParts;
  readonly #listeners = new Set<PanelListener>();
  readonly #stops: readonly (() => void)[];
  #lastAccount = '';
  #lastServers = new Map<number, PanelServer>();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: PanelParts) {
    this.#parts = parts;
    const { hosting, account, tour } = parts;
    this.#stops = [
      hosting.onEvent((event) => {
        if (event.kind !== 'money') this.#emit({ type: 'request', request: panelRequest(event.request) });
        else if (event.entry.accountId === account.id)
          this.#emit({ type: 'money', entry: panelMoney(event.entry) });
      }),
      tour.onStep((steps) => this.#emit({ type: 'tour', steps })),
    ];
  }

  async state(): Promise<PanelState> {
    const { hosting, account, tour, findAppKey } = this.#parts;
    const appKey = await findAppKey();
    return {
      account: panelAccount(hosting, account, appKey),
      servers: panelServers(hosting, account),
      money: panelMovements(hosting, account),
      requests: panelRequests(hosting),
      tour: tour.steps(),
      presets: PRESETS.map(({ id, title, hint }) => ({ id, title, hint })),
    };
  }

  /** Performs an action; every page gets the event before the answer. */
  async perform(action: PanelAction): Promise<PanelResult> {
    const done = performAction(this.#parts.hosting, this.#parts.account, action);
    await this.check();
    return done;
  }

  /** Calls the listener on everything that happens from now on; the returned function ends that. */
  async onEvent(listener: PanelListener): Promise<() => void> {
    // Without listeners nothing was compared: the next event reports the difference from here.
    await this.check(true);
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) clearTimeout(this.#timer);
    };
  }

  /** Compares with the last state, emits the difference, and checks again when time alone changes something. */
  async check(isFirst = false): Promise<void> {
    if (this.#listeners.size === 0 && !isFirst) return;
    const { hosting, account, findAppKey } = this.#parts;
    const seen = panelAccount(hosting, account, await findAppKey());
    const text = JSON.stringify(seen);
    if (text !== this.#lastAccount) this.#emit({ type: 'account', account: seen });
    this.#lastAccount = text;
    this.#compareServers();
    clearTimeout(this.#timer);
    const next = hosting.servers.findNextChangeMs(account);
    if (next === undefined) return;
    const waitMs = Math.min(next - hosting.clock.now() + 1, LONGEST_WAIT_MS);
    this.#timer = setTimeout(() => void this.check().catch(logFailure), waitMs).unref();
  }

  close(): void {
    for (const stop of this.#stops) stop();
    this.#listeners.clear();
    clearTimeout(this.#timer);
  }

  #compareServers(): void {
    const { hosting, account } = this.#parts;
    const servers = new Map(panelServers(hosting, account).map((server) => [server.id, server]));
    const shown = this.#lastServers;
    const changed = [...servers.values()].filter((server) => !isSame(server, shown.get(server.id)));
    const gone = [...shown.keys()].filter((id) => !servers.has(id));
    this.#lastServers = servers;
    if (changed.length + gone.length > 0) this.#emit({ type: 'servers', changed, gone });
  }

  #emit(event: PanelEvent): void {
    for (const listener of [...this.#listeners]) listener(event);
  }
}

function isSame(server: PanelServer, other: PanelServer | undefined): boolean {
  return server.state === other?.state && server.paidUntil === other.paidUntil;
}

function logFailure(error: unknown): void {
  reportFailure('The sandbox panel failed', error);
}
