import {
  type HostingCode,
  HostingError,
  isRefusal,
  type RefusalCode,
  type RefusalDetails,
} from './errors.ts';
import type { Reason } from './reason.ts';
import type { Secret } from './secret.ts';

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
  'newer_version',
] as const satisfies readonly RefusalCode[];
export type PurchaseRefusalCode = (typeof PURCHASE_REFUSALS)[number];

type NoDetails = Record<never, never>;

/** Refused with proof: the paid request was not sent, or the API said that it did nothing (docs/hosting-api.md 7). */
export type ProvenRefusalDetails = Pick<RefusalDetails, PurchaseRefusalCode> & {
  readonly [Code in HostingCode | 'unknown_code']: NoDetails;
} & {
  /** A defect of ours occurred before anything was sent. */
  readonly defect: NoDetails;
};

/** Refused without proof: none of these may be described as "nothing was charged". */
export interface UnprovenRefusalDetails {
  /** Written by older versions: it had not appeared by the end of the waiting time, which proves nothing. */
  readonly not_done: NoDetails;
  /** A manager checked the hosting account and decided it. */
  readonly decided_not_done: NoDetails;
  /** Stored by another version of the app, whose code or details this one can't read. */
  readonly unreadable: { readonly code: string };
}

export type OperationRefusalDetails = ProvenRefusalDetails & UnprovenRefusalDetails;
/** Why an operation was refused. */
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
  /** Stored by another version of the app, whose code this one does not know. */
  readonly unreadable: { readonly code: string };
}
/** Why it is not known whether an operation was done. */
export type UnconfirmedReason = Reason<UnconfirmedDetails>;

const UNPROVEN = { not_done: true, decided_not_done: true, unreadable: true } as const satisfies Readonly<
  Record<keyof UnprovenRefusalDetails, true>
>;

/** Whether it is proven that nothing was charged, or that the charge was returned. */
export function isProven(reason: OperationRefusal): reason is Reason<ProvenRefusalDetails> {
  return !Object.hasOwn(UNPROVEN, reason.code);
}

/** What is proven about the money: it never left the balance, or came back to it (docs/hosting-api.md 3). */
export function moneyOf({ code }: Reason<ProvenRefusalDetails>): 'untouched' | 'returned' {
  return code === 'not_created' ? 'returned' : 'untouched';
}

/** The refusal that an error proves; undefined for a defect, and for a rule that no confirmed purchase can break. */
export function refusalOf(error: unknown): OperationRefusal | undefined {
  if (error instanceof HostingError) return { code: error.code, details: {} };
  return PURCHASE_REFUSALS.map((code) => reasonIf(error, code)).find((reason) => reason !== undefined);
}

function reasonIf<Code extends PurchaseRefusalCode>(
  error: unknown,
  code: Code,
): Reason<RefusalDetails, Code> | undefined {
  return isRefusal(error, code) ? { code, details: error.details } : undefined;
}

/** A paid request was answered as no outcome can be answered. Money effect: it may have been paid. */
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
