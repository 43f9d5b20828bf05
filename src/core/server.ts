import type { ServerId, UserId } from './ids.ts';
import { isIdenticalLabel } from './labels.ts';

/** A server, or what is known only by its ID and label. */
export interface NamedServer {
  readonly id: ServerId;
  /** '' if the service sent none that can be read. */
  readonly label: string;
}

/** A server, or what is known only by its state. */
export interface HasState {
  /** Any text; only three states are documented (docs/hosting-api.md 3.1, 3.8). '' if unreadable. */
  readonly state: string;
}

/** One server of the account (docs/hosting-api.md 2.3). The service's record has no plan and no price. */
export interface Server extends NamedServer, HasState {
  /** Absent if the service sent none. */
  readonly ipv4?: string;
  /** Epoch milliseconds; absent if the service sent none that can be read. */
  readonly paidUntil?: number;
}

/** The servers of an account, as far as the service has listed them. */
export interface ServerList {
  readonly servers: readonly Server[];
  /** Only in a `whole` list does a missing server prove anything. */
  readonly extent: ListExtent;
  readonly unreadableCount: number;
  /** How long reading it took, in milliseconds, with the wait for its turn. */
  readonly tookMs?: number;
}

/**
 * Whether a list has all servers of the account (docs/hosting-api.md 4.13). `part`: the service says that there are more, or an
 * element could not be read. `maybe_whole`: something around the list can't be interpreted.
 */
export type ListExtent = 'whole' | 'maybe_whole' | 'part';

/** Whether a state is `deleted`, in any letter case: the service may go on listing a deleted server (docs/hosting-api.md 3.8). */
export function isDeleted({ state }: HasState): boolean {
  return state.trim().toLowerCase() === 'deleted';
}

/** Whether a server's address is a plain IPv4 address. Nothing else is shown as a command, since someone may paste it. */
export function isPlainAddress(ipv4: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(ipv4);
}

/** The power actions (docs/hosting-api.md 4.8). None costs anything. */
export const POWER_ACTIONS = ['start', 'stop', 'reboot'] as const;
export type PowerAction = (typeof POWER_ACTIONS)[number];

/** Makes one for each power action. */
export function perPowerAction<Made>(
  make: (action: PowerAction) => Made,
): Readonly<Record<PowerAction, Made>> {
  return { start: make('start'), stop: make('stop'), reboot: make('reboot') };
}

/** Compares servers for sorting: by label in any letter case, numbers inside labels by value, then by ID. */
export function compareServers(a: Server, b: Server): number {
  return byLabel.compare(a.label, b.label) || a.id - b.id;
}

const byLabel = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** The color of a state, always shown together with the state itself. */
export type StateColor = 'green' | 'yellow' | 'red' | 'gray';

const RED = ['error', 'failed', 'failure', 'crashed', 'suspended', 'expired', 'blocked'];

/** Picks the color of a state. That of an undocumented state is a guess from its word (docs/hosting-api.md 3.8). */
export function colorOf({ state }: HasState): StateColor {
  const word = wordOf({ state });
  if (word === 'running') return 'green';
  if (/^[a-z]+ing$/.test(word)) return 'yellow';
  return RED.some((each) => word.startsWith(each)) ? 'red' : 'gray';
}

/** Lists the power actions to offer in a state: all in an undocumented one (docs/hosting-api.md 3.8). */
export function powerActionsIn(server: HasState): readonly PowerAction[] {
  if (isDeleted(server) || wordOf(server) === 'creating') return [];
  return wordOf(server) === 'running' ? ['stop', 'reboot'] : POWER_ACTIONS;
}

const EXPECTED: Readonly<Record<PowerAction, readonly string[]>> = {
  start: ['running'],
  reboot: ['running'],
  stop: ['stopped', 'off'],
};

/** Whether a state, if it is known, is the one that a power action leads to, so that the action needs no more waiting. */
export function isTargetState(action: PowerAction, server: Partial<HasState>): boolean {
  return EXPECTED[action].includes(wordOf(server));
}

function wordOf({ state = '' }: Partial<HasState>): string {
  return state.trim().toLowerCase();
}

/** A reboot of the last two minutes, from the audit. `isUnconfirmed`: the hosting API didn't confirm that it was carried out. */
export interface RecentReboot {
  readonly agoMs: number;
  readonly rebootedBy: UserId;
  readonly isUnconfirmed: boolean;
}

/** A team's note about a server, stored by the app: the hosting API has no field for it. */
export interface ServerNote {
  readonly serverId: ServerId;
  /** The server's label when it was noted, since another account may have a server with the same ID. */
  readonly label: string;
  /** May be empty if there is a contact. */
  readonly text: string;
  readonly contact?: UserId;
  readonly notedBy: UserId;
  /** Epoch milliseconds. */
  readonly notedAt: number;
}

/** The longest note, in characters: a longer one would push the buttons of the server's card off a phone's screen. */
export const MOST_NOTE_LETTERS = 300;

/** Whether a note is about this server: same ID and same label. */
export function isNoteOf(note: ServerNote, server: NamedServer): boolean {
  return note.serverId === server.id && isIdenticalLabel(note.label, server.label);
}
