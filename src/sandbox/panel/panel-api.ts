/**
 * The contract between the sandbox and the panel of its page: the hosting account, the traffic between app and hosting
 * API, and the guided tour. Types only: the page's author may import them (`import type`),
 * and nothing else of this folder.
 *
 * GET  /panel/state  -> PanelState               everything, the same for every user
 * POST /panel/do     PanelAction -> PanelResult  JSON body
 *
 * Host must be a loopback name; what another site sends is refused with 403, a body that is no JSON with 415.
 * The event `panel` among those of /page/live says that the state has changed.
 *
 * The balance and prices are decimal strings with two decimals. Times are epoch milliseconds, on the service's clock unless a
 * comment says otherwise.
 */
import type { KeyEntry } from '../hosting/accounts.ts';
import type { MoneyEntry, RequestEntry } from '../hosting/journal.ts';
import type { WireServer } from '../hosting/servers.ts';

export type { PanelAction } from './actions.ts';

export interface PanelState {
  readonly account: PanelAccount;
  /** By id, oldest first. Deleted ones are left out. */
  readonly servers: readonly WireServer[];
  /** The last 100 top-ups, charges and refunds, oldest first. */
  readonly money: readonly MoneyEntry[];
  /** The last 200 requests to the hosting API, oldest first. */
  readonly requests: readonly RequestEntry[];
  readonly tour: readonly TourStep[];
  /** What can be switched on; never changes while the sandbox runs. */
  readonly presets: readonly FaultPreset[];
}

export interface PanelAccount {
  readonly name: string;
  readonly balance: string;
  readonly keys: readonly PanelKey[];
  /** The app's API key of its workspace: none, one that works, or one that was revoked. */
  readonly connection: 'none' | 'works' | 'revoked';
  readonly faults: readonly PanelFault[];
  /** How far the service's clock was moved; its time is the browser's time plus this. */
  readonly movedMs: number;
}

export interface PanelKey extends Omit<KeyEntry, 'hash'> {
  /** The app's workspace is connected with it. */
  readonly isUsedByApp: boolean;
}

export interface FaultPreset {
  readonly id: string;
  /** "Drop the next response (the order still goes through)" */
  readonly title: string;
  /** What will be seen, in a sentence. */
  readonly hint: string;
}

export interface PanelFault {
  readonly id: number;
  readonly preset: string;
  /** How many requests it still strikes; null: until it is switched off. */
  readonly left: number | null;
}

export interface TourStep {
  readonly id: 'connect' | 'create' | 'reboot' | 'lose' | 'delete';
  readonly title: string;
  /** What to do, in sentences; commands stand between backticks. */
  readonly words: string;
  readonly isDone: boolean;
}

/** The event of the change comes before this answer does. */
export type PanelResult =
  | {
      readonly ok: true;
      /** Only after `create_key`. */
      readonly key?: string;
    }
  | {
      readonly ok: false;
      /** `invalid_action`, `unknown` */
      readonly error: string;
      /** A sentence for the user. */
      readonly words: string;
    };
