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

export const POWER_ACTIONS = ['start', 'stop', 'reboot'] as const;
export type PowerAction = (typeof POWER_ACTIONS)[number];

/** Orders servers as people look for them: by label, numbers inside labels by value, then by id. */
export function compareServers(a: Server, b: Server): number {
  return byLabel.compare(a.label, b.label) || a.id - b.id;
}

const byLabel = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
