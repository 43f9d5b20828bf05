/** One server of the account (docs/hosting-api.md 2). The record has no plan and no price. */
export interface Server {
  readonly id: number;
  readonly label: string;
  /** Any string: the document names three states and says the list is not complete (section 3). */
  readonly state: string;
  /** Absent while the service has not given one yet. */
  readonly ipv4?: string;
  /** Epoch milliseconds; absent when the service sent none that can be read. */
  readonly paidUntil?: number;
}

/** The servers of an account, as far as the service has shown them. */
export interface ServerList {
  readonly servers: readonly Server[];
  /**
   * Whether these are all of them. If not, a page is missing or an element could not be read, and nothing may be
   * concluded from what is not in `servers`.
   */
  readonly isComplete: boolean;
  /** Elements of the list that could not be read. */
  readonly unreadableCount: number;
}

/** Tells whether a server that the service still lists is gone (docs/hosting-api.md 3). */
export function isDeleted({ state }: Pick<Server, 'state'>): boolean {
  return state.trim().toLowerCase() === 'deleted';
}

export const POWER_ACTIONS = ['start', 'stop', 'reboot'] as const;
export type PowerAction = (typeof POWER_ACTIONS)[number];

const DAY_MS = 86_400_000;

/** Counts the whole days between now and the end of the paid time; 0 once it has passed. */
export function countPaidDays(paidUntil: number, now: number): number {
  return Math.max(0, Math.floor((paidUntil - now) / DAY_MS));
}

/** Orders servers as people look for them: by label, numbers inside labels by value, then by id. */
export function compareServers(a: Server, b: Server): number {
  return byLabel.compare(a.label, b.label) || a.id - b.id;
}

const byLabel = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** Tells whether two labels are the same for people; a service may trim or fold what it was given. */
export function sameLabel(a: string, b: string): boolean {
  const fold = (label: string) => label.normalize('NFKC').trim().toLowerCase();
  return fold(a) === fold(b);
}

/** What has to be typed to delete a server: its label, or its id where the label is not one that can be typed. */
export function deletionWord({ id, label }: Pick<Server, 'id' | 'label'>): string {
  const trimmed = label.trim();
  const isTypeable =
    trimmed !== '' && trimmed.length <= 150 && !/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u.test(trimmed);
  return isTypeable ? trimmed : String(id);
}
