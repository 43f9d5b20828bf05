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
  /** Only of a `whole` list may anything be concluded from a server that is missing in `servers`. */
  readonly extent: ListExtent;
  /** Elements of the list that could not be read. */
  readonly unreadableCount: number;
}

/**
 * Whether a list has all servers of the account. `part`: the service says that there are more, or an element could not be
 * read. `maybe_whole`: something around the list can't be interpreted.
 */
export type ListExtent = 'whole' | 'maybe_whole' | 'part';

/** Whether a server that the service still lists has been deleted (docs/hosting-api.md 3). */
export function isDeleted({ state }: Pick<Server, 'state'>): boolean {
  return state.trim().toLowerCase() === 'deleted';
}

export const POWER_ACTIONS = ['start', 'stop', 'reboot'] as const;
export type PowerAction = (typeof POWER_ACTIONS)[number];

/** Orders servers as users look for them: by label, numbers inside labels by value, then by id. */
export function compareServers(a: Server, b: Server): number {
  return byLabel.compare(a.label, b.label) || a.id - b.id;
}

const byLabel = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
