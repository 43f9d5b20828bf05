import type { LocalSlack } from '../../src/sandbox/slack/slack.ts';
import type { StoredMessage } from '../../src/sandbox/slack/stored-message.ts';
import type { User } from '../../src/sandbox/slack/workspace.ts';

/** One version of a message or of a modal, as Slack had it. */
export interface Shown {
  readonly atMs: number;
  /** The only user who sees it; undefined: a whole channel. */
  readonly to: string | undefined;
  readonly channel: string;
  /** Empty for a modal. */
  readonly ts: string;
  readonly isNew: boolean;
  readonly isModal: boolean;
  /** Its text and its blocks, as sent. */
  readonly written: string;
  readonly message?: StoredMessage;
}

/** A create that a user confirmed. Every label is ordered once. */
export interface Order {
  readonly label: string;
  readonly userId: string;
  readonly pressedAtMs: number;
  presses: number;
  /** The app said in its ack that the order was taken. */
  isTaken: boolean;
}

/** A month of one server that several users renewed at once. */
export interface Renewal {
  readonly serverId: number;
  readonly label: string;
  /** Until when it was paid as each form showed it, in epoch seconds: a renewal that ends meanwhile moves it. */
  readonly seenPaidUntil: readonly string[];
  readonly userIds: readonly string[];
  readonly pressedAtMs: number;
  /** Those whose press the app acknowledged. */
  readonly takenFor: Set<string>;
}

/** A deletion that a user requested and others approved. */
export interface Deletion {
  readonly serverId: number;
  readonly label: string;
  readonly requesterId: string;
  isTaken: boolean;
  approvals: number;
}

/** A role that a user asked for and an owner granted. */
export interface RoleRequest {
  readonly userId: string;
  isTaken: boolean;
  answers: number;
}

/** All that the users did, and all that Slack showed them. */
export interface Recorded {
  readonly shown: readonly Shown[];
  readonly orders: Order[];
  readonly renewals: Renewal[];
  readonly deletions: Deletion[];
  readonly roleRequests: RoleRequest[];
  /** Servers named in reboots that were sent, once for each. */
  reboots: number;
  /** How many labels were made up. */
  labels: number;
  readonly acts: Map<string, number>;
  /** What was visible to this user: their ephemeral messages, direct messages and modals. */
  toldTo(userId: string): readonly Shown[];
}

/** Each user's conversation with the app. */
export function directChannelOf(userId: string): string {
  return `D${userId.slice(1)}`;
}

/** Records from now on what the app shows, also in the modals of these users. */
export function startRecord(slack: LocalSlack, people: readonly User[]): Recorded {
  const shown: Shown[] = [];
  const users = new Map(people.map((user) => [user.id, user]));
  const modals = new Map<string, string>();
  slack.onEvent((event) => {
    const atMs = Date.now();
    if (event.type === 'message' || event.type === 'message_changed') {
      const { message } = event;
      const { to, channel, ts, text, blocks } = message;
      const written = `${text}\n${JSON.stringify(blocks)}`;
      shown.push({
        atMs,
        to,
        channel,
        ts,
        isNew: event.type === 'message',
        isModal: false,
        written,
        message,
      });
    } else if (event.type === 'views') {
      const user = users.get(event.user);
      const modal = user && slack.as(user).modal();
      const written = modal ? `${modal.title}\n${JSON.stringify(modal.blocks)}` : '';
      if (written === '' || modals.get(event.user) === written) return;
      modals.set(event.user, written);
      shown.push({ atMs, to: event.user, channel: '', ts: '', isNew: true, isModal: true, written });
    }
  });
  return {
    shown,
    orders: [],
    renewals: [],
    deletions: [],
    roleRequests: [],
    reboots: 0,
    labels: 0,
    acts: new Map(),
    toldTo: (userId) =>
      shown.filter(({ to, channel }) => to === userId || channel === directChannelOf(userId)),
  };
}
