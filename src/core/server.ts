import type { ServerId, UserId } from './ids.ts';

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

/** The color of a state. The hosting API's word for the state is always shown with it. */
export type StateColor = 'green' | 'yellow' | 'red' | 'gray';

const RED = ['error', 'failed', 'failure', 'crashed', 'suspended', 'expired', 'blocked'];

/** Only `creating`, `running` and `deleted` are documented (docs/hosting-api.md 3): the color of others is a courtesy. */
export function colorOf({ state }: Pick<Server, 'state'>): StateColor {
  const word = wordOf({ state });
  if (word === 'running') return 'green';
  if (/^[a-z]+ing$/.test(word)) return 'yellow';
  return RED.some((each) => word.startsWith(each)) ? 'red' : 'gray';
}

/** The power actions that can make sense in a state. In a state that isn't documented, the hosting API decides. */
export function powerActionsIn(server: Pick<Server, 'state'>): readonly PowerAction[] {
  if (isDeleted(server) || wordOf(server) === 'creating') return [];
  return wordOf(server) === 'running' ? ['stop', 'reboot'] : POWER_ACTIONS;
}

const EXPECTED: Readonly<Record<PowerAction, readonly string[]>> = {
  start: ['running'],
  reboot: ['running'],
  stop: ['stopped', 'off'],
};

/** Whether a server in this state is where the action leads, so that nothing more has to be waited for. */
export function isWhereLeads(action: PowerAction, server: Pick<Server, 'state'>): boolean {
  return EXPECTED[action].includes(wordOf(server));
}

function wordOf({ state }: Pick<Server, 'state'>): string {
  return state.trim().toLowerCase();
}

/** What a team noted about a server; the hosting API has no field for it. */
export interface ServerNote {
  readonly serverId: ServerId;
  /** The label that the server had: another account may have a server with the same ID. */
  readonly label: string;
  /** May be empty if there is a contact. */
  readonly text: string;
  /** Who to ask about the server. */
  readonly contact?: UserId;
  readonly notedBy: UserId;
  readonly notedAt: number;
}

/** Longer ones would push the buttons of the server's card off a phone's screen. */
export const MOST_NOTE_LETTERS = 300;

/** Whether the note is about this very server. */
export function isNoteOf(
  note: Pick<ServerNote, 'serverId' | 'label'>,
  server: { readonly id: ServerId; readonly label: string },
): boolean {
  return note.serverId === server.id && note.label === server.label;
}
