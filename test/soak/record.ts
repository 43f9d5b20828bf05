import { type Confirmation, observe, type Shown } from '../support/records.ts';
import type { LocalSlack } from '../support/slack/local-slack.ts';

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
interface Renewal {
  readonly serverId: number;
  readonly label: string;
  readonly userIds: readonly string[];
  readonly pressedAtMs: number;
  /** Those who read that their own press was taken. */
  readonly takenFor: Set<string>;
}

/** A deletion that a user requested and others approved. */
interface Deletion {
  readonly serverId: number;
  readonly label: string;
  readonly requesterId: string;
  isTaken: boolean;
  approvals: number;
}

/** A role that a user asked for and an owner granted. */
interface RoleRequest {
  readonly userId: string;
  isTaken: boolean;
  answers: number;
}

/** All that the users did, and all that Slack showed them. */
export interface Recorded {
  readonly shown: readonly Shown[];
  readonly confirmations: ReadonlyMap<string, Confirmation>;
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

/** Records from now on what the app shows, and what users confirm. */
export function startRecord(slack: LocalSlack): Recorded {
  const shown: Shown[] = [];
  const confirmations = new Map<string, Confirmation>();
  observe(slack, { shown, confirmations });
  return {
    shown,
    confirmations,
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
