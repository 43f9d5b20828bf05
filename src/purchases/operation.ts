import { z } from 'zod';
import type { AppContext } from '../context.ts';
import type { AuditEntry } from '../core/audit-entry.ts';
import {
  type HostingCode,
  HostingError,
  type NoDetails,
  type Reason,
  Refusal,
  type RefusalCode,
  type RefusalDetails,
} from '../core/errors.ts';
import type { ChannelId, ConfirmationId, ServerId, UserId, WorkspaceId } from '../core/ids.ts';
import type { Money } from '../core/money.ts';
import type { Secret } from '../core/secret.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { Deletion } from '../servers/deletion.ts';

/**
 * The states of a paid operation (docs/design.md 4):
 * prepared (confirmed, nothing sent) → sent (committed before the request leaves) →
 * settled (done and paid), refused (not done) or unconfirmed (looked for, never sent again).
 */
export type OperationState = Standing['state'];

/** A state, and why it was refused or is unconfirmed. */
export type StandingOf<Refused, Unconfirmed> =
  | { readonly state: 'prepared' | 'sent' | 'settled'; readonly reason?: never }
  | { readonly state: 'refused'; readonly reason: Refused }
  | { readonly state: 'unconfirmed'; readonly reason: Unconfirmed };

export type Standing = StandingOf<OperationRefusal, UnconfirmedReason>;

const order = z.strictObject({
  plan: z.string(),
  location: z.string(),
  image: z.string(),
  label: z.string(),
});

/** As it is stored. Strict: what is bought is all that was confirmed. */
export const storedPurchase = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('create'),
    order,
    /** The servers with the same label that the review showed; absent: none. */
    namesakeIds: z.array(z.number()).readonly().exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('renew'),
    serverId: z.number(),
    label: z.string(),
    /** Epoch milliseconds. */
    paidUntil: z.number(),
  }),
]);

/** What a user confirmed: a create, or a renewal of the month that ends at the `paidUntil` they saw. */
export type Purchase = z.output<typeof storedPurchase>;

/** What was confirmed is sent within this time, or not at all (docs/design.md 4.7). */
export const SEND_WITHIN_MS = 2 * MINUTE_MS;

/** How far two readings of the clock may differ without it having been set back. */
export const CLOCK_SLACK_MS = 10_000;

/** Whether it may still be sent: a clock that was set back since shortens the time for that, and never makes it longer. */
export function isInTime(
  { createdAt, sendBy }: Pick<ConfirmedOperation, 'createdAt' | 'sendBy'>,
  now: number,
): boolean {
  return now <= sendBy && createdAt <= now + CLOCK_SLACK_MS;
}

/** The kind of job that moves an operation, also a delete, on until it has ended and its actor was notified; its key is the operation's ID. */
export const OPERATION = 'operation';

/** One confirmation of a purchase by one user, and its outcome. A row of the ledger; a `DeleteOperation` is the other kind. */
export type Operation = ConfirmedOperation & Standing;

interface Confirmed {
  readonly id: ConfirmationId;
  readonly workspaceId: WorkspaceId;
  readonly actorId: UserId;
  /** Where the actor is notified; absent when the form was not opened from a channel. */
  readonly channelId?: ChannelId;
  readonly purchase: Purchase;
  /** The monthly price that was confirmed; absent for a renewal of a server that was not created with this app. */
  readonly price?: Money;
  /** The first name of the key that it was confirmed under or sent with; absent without a key. A new one without it gets the key of now. */
  readonly account?: string;
}

export interface NewOperation extends Confirmed {
  readonly at: number;
}

export interface ConfirmedOperation extends Confirmed {
  /** Server ids that existed just before a create was sent: a server with another id is new. */
  readonly knownIds: readonly ServerId[];
  readonly serverId?: ServerId;
  /** Epoch milliseconds, after a settled renewal. */
  readonly paidUntil?: number;
  /** False if the server was only found later, and its password was in an answer that never arrived. */
  readonly hasPassword: boolean;
  readonly createdAt: number;
  /** After this it is not sent any more; epoch milliseconds. */
  readonly sendBy: number;
  readonly sentAt?: number;
  readonly endedAt?: number;
  /** When the actor was notified of this state; absent until then. */
  readonly notifiedAt?: number;
  /** A manager has to decide. The app keeps looking for it. */
  readonly needsDecision: boolean;
  /** The manager who decided that it was not done. */
  readonly decidedBy?: UserId;
  /** It was found after it had been ended without proof: the earlier message was wrong. */
  readonly isLate: boolean;
}

export function isEnded(operation: Operation): boolean {
  return operation.state === 'settled' || operation.state === 'refused';
}

/** Whether what was sent may still turn out to be done: unconfirmed, or ended without proof. */
export function isLookedFor({ state, reason }: Operation): boolean {
  if (state === 'unconfirmed') return true;
  return state === 'refused' && !isProven(reason);
}

/** The milliseconds since it was sent; negative if the clock was set back to before that (docs/design.md 4.9). */
export function doubtedFor({ sentAt, createdAt }: Operation, now: number): number {
  return now - (sentAt ?? createdAt);
}

export function labelOf(confirmed: Purchase | Deletion): string {
  return confirmed.kind === 'create' ? confirmed.order.label : confirmed.label;
}

/**
 * An operation's claim: the month of the server that no other operation may pay for (docs/design.md 4.1).
 * Empty for a create: two creates are two servers, and its own id stops a second press. A delete blocks nothing either.
 */
export function claimOf(confirmed: Purchase | Deletion): string {
  return confirmed.kind === 'renew' ? `renew:${confirmed.serverId}:${confirmed.paidUntil}` : '';
}

/** The rules that can end a purchase after it was confirmed (docs/design.md 4). */
export const PURCHASE_REFUSALS = [
  'role_needed',
  'identity_unknown',
  'approval_needed',
  'over_budget',
  'purchases_frozen',
  'unknown_server',
  'unknown_choice',
  'price_moved',
  'already_renewed',
  'paid_until_unknown',
  'create_in_doubt',
  'create_in_doubt_elsewhere',
  'label_taken',
  'renewed_elsewhere',
  'stale_confirmation',
  'list_incomplete',
  'account_changed',
  'label_moved',
  'no_api_key',
  'key_unreadable',
  'waited_too_long',
  'shutting_down',
] as const satisfies readonly RefusalCode[];

/** Refused with proof: by one of these rules before it was sent, or the API said that it did nothing (docs/hosting-api.md 7). */
export type ProvenDetails<Rule extends RefusalCode> = Pick<RefusalDetails, Rule> & {
  readonly [Code in HostingCode | 'unknown_code']: NoDetails;
} & {
  /** A defect of ours occurred before anything was sent. */
  readonly defect: NoDetails;
};
export type ProvenRefusalDetails = ProvenDetails<(typeof PURCHASE_REFUSALS)[number]>;

export type OperationRefusalDetails = ProvenRefusalDetails & {
  /** A manager checked the hosting account and decided it, without proof: never described as "nothing was charged". */
  readonly decided_not_done: NoDetails;
};
export type OperationRefusal = Reason<OperationRefusalDetails>;

export interface UnconfirmedDetails {
  /** The supplier did not confirm: the service completes the order or returns the charge (docs/hosting-api.md 7). */
  readonly checking: NoDetails;
  readonly no_answer: NoDetails;
  readonly unreadable_answer: NoDetails;
  readonly unknown_code: NoDetails;
  readonly defect: NoDetails;
  /** The API key was set after the confirmation: the servers that can be listed now may be another account's. */
  readonly account_changed: NoDetails;
  /** The API or the server list shows what fits no outcome. */
  readonly contradiction: NoDetails;
  /** It has not appeared while the app was looking for `DOUBT_MINUTES`. */
  readonly not_found_yet: NoDetails;
  /** There is no API key with which it could be looked for. */
  readonly no_api_key: NoDetails;
  /** The API rejects the key with which it is looked for. */
  readonly key_rejected: NoDetails;
  /** The database was restored from a backup, which does not have the outcome. */
  readonly restored: NoDetails;
}
export type UnconfirmedReason = Reason<UnconfirmedDetails>;

/** Whether it is proven that nothing was charged, or that the charge was returned. */
export function isProven(reason: OperationRefusal): reason is Reason<ProvenRefusalDetails> {
  return reason.code !== 'decided_not_done';
}

/** The refusal that an error proves; undefined for a defect, and for a rule that no confirmed purchase can break. */
export function refusalOf(error: unknown): OperationRefusal | undefined {
  if (error instanceof HostingError) return { code: error.code, details: {} };
  const isKnown = error instanceof Refusal && PURCHASE_REFUSALS.some((code) => code === error.code);
  return isKnown ? ({ code: error.code, details: error.details } as OperationRefusal) : undefined;
}

/** A paid request got an answer that fits no possible outcome. Money effect: it may have been paid. */
export class ContradictoryAnswer extends Error {
  override readonly name = 'ContradictoryAnswer';
  /** What the answer to a create held, for its creator alone. */
  readonly sealedAnswer: Secret<string> | undefined;

  constructor(sealedAnswer?: Secret<string>) {
    super('a contradictory answer');
    this.sealedAnswer = sealedAnswer;
  }
}

/** Why the outcome of a paid request that ended in this error is unknown. */
export function unconfirmedReasonOf(error: unknown): UnconfirmedReason {
  if (error instanceof ContradictoryAnswer) return { code: 'contradiction', details: {} };
  if (!(error instanceof HostingError)) return { code: 'defect', details: {} };
  switch (error.code) {
    case 'checking':
    case 'no_answer':
    case 'unknown_code':
      return { code: error.code, details: {} };
    default:
      return { code: 'unreadable_answer', details: {} };
  }
}

/** The audit entry of an operation's change of state, by the user who confirmed it. */
export function auditOfOperation(
  operation: Operation,
  { system }: AppContext,
  outcome: AuditEntry['outcome'],
  more: Partial<AuditEntry> = {},
): AuditEntry {
  const { id, workspaceId, actorId, channelId, purchase, price } = operation;
  const serverId = purchase.kind === 'renew' ? purchase.serverId : undefined;
  return {
    at: system.now(),
    workspaceId,
    actorId,
    surface: 'modal',
    action: purchase.kind,
    actId: id,
    operationId: id,
    label: labelOf(purchase),
    outcome,
    channelId,
    serverId,
    money: price,
    ...more,
  };
}
