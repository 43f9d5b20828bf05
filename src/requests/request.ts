import { z } from 'zod';
import type { AppContext } from '../context.ts';
import type { AuditEntry } from '../core/audit-entry.ts';
import { type AuditFacts, makeAuditEntry } from '../core/entry.ts';
import type { ChannelId, ConfirmationId, PostedMessage, ServerId, UserId, WorkspaceId } from '../core/ids.ts';
import { money } from '../core/money.ts';
import { ROLES, type Role } from '../core/roles.ts';
import { HOUR_MS } from '../core/time.ts';
import { labelOf, storedDeletion, storedPurchase } from '../purchases/operation.ts';
import type { DeleteOperation } from '../servers/deletion.ts';

/**
 * The kind of job that tells users of each state of a request and expires it; its key is the request's ID. It stays until the
 * request is closed and everybody knows.
 */
export const REQUEST = 'request';

/**
 * The states of a request: open → approved; or denied, withdrawn by its requester, expired, or canceled, since what it was about
 * has changed. What was approved goes on in the ledger, under the same ID.
 */
export type RequestState = 'open' | 'approved' | 'denied' | 'withdrawn' | 'expired' | 'canceled';
export type RoleRequestState = Exclude<RequestState, 'canceled'>;

/** What may be found instead of an open request; `unknown`: there is none with that ID. */
export type ClosedState = Exclude<RequestState, 'open'> | 'unknown';

interface NewRequest {
  readonly id: ConfirmationId;
  readonly workspaceId: WorkspaceId;
  readonly requesterId: UserId;
  readonly channelId?: ChannelId | undefined;
  readonly requestedAt: number;
  readonly expiresAt: number;
}

interface Requested extends NewRequest {
  readonly decidedBy?: UserId;
  /** What the user who denied it wrote to the requester. */
  readonly denialReason?: string;
  /** When it stopped being open, for any reason. */
  readonly decidedAt?: number;
  /** Whether users were notified of this state: by cards while it is open, the requester after that. */
  readonly isNotified: boolean;
  /** The messages that ask for it. */
  readonly cards: readonly PostedMessage[];
}

/** What is asked for, by kind, as it is stored. Strict, as purchases are: what is approved is all that was confirmed. */
export const SUBJECTS = {
  purchase: z.strictObject({
    purchase: storedPurchase,
    price: z.number().transform(money).exactOptional(),
  }),
  delete: storedDeletion.omit({ kind: true }),
  role: z.strictObject({
    role: z.enum(ROLES),
    pattern: z.string(),
    reason: z.string(),
    /** What the requester typed when they were told that they need a role: `reboot web-1`. */
    command: z.string().exactOptional(),
  }),
};
type Subject<Kind extends keyof typeof SUBJECTS> = Readonly<z.output<(typeof SUBJECTS)[Kind]>> & {
  readonly kind: Kind;
};

/** What a second user has to approve, exactly as the first one confirmed it. */
export type ApprovalAction = Subject<'purchase'> | Subject<'delete'>;

export type NewApproval = NewRequest &
  ApprovalAction & {
    /** Whether approval is needed because a budget is used up, not (only) because of the two-person rule. */
    readonly isOverBudget: boolean;
  };

/** Something that one user confirmed and another one has to approve (two-person rule). Its operation has the same ID. */
export type Approval = Requested &
  NewApproval &
  ApprovalOutcome & {
    /** How an approved delete stands; absent until it was approved, and for purchases. */
    readonly deletion?: DeleteOperation | undefined;
    /** The first name of the key that the workspace had when it was requested; '' without a key. */
    readonly account: string;
  };

export type NewRoleRequest = NewRequest & Subject<'role'>;

export interface RoleRequest extends Requested, Subject<'role'> {
  /** Whether Slack says that the requester is a guest. Looked up for those who decide, not stored. */
  readonly isGuest?: boolean;
  readonly state: RoleRequestState;
  /** What was granted, which may be less than what was requested. `until`: absent if it is permanent. */
  readonly granted?: { readonly role: Role; readonly pattern: string; readonly until?: number };
}

export type Request = Approval | RoleRequest;
type RequestKind = Request['kind'];
export type RequestOf<Kind extends RequestKind> = Extract<Request, { readonly kind: Kind }>;

/** The kinds that a manager approves, the one that an owner grants, and all of them. */
export const APPROVALS = ['purchase', 'delete'] as const;
export const ROLES_ASKED = ['role'] as const;
export const ALL_KINDS: readonly RequestKind[] = [...APPROVALS, ...ROLES_ASKED];

/** What cancels an approval. `restored`: the database was restored from a backup, so it may have been answered since. */
export const CANCEL_CODES = [
  'role_needed',
  'account_changed',
  'unknown_server',
  'label_differs',
  'server_protected',
  'already_renewed',
  'unknown_choice',
  'price_moved',
  'over_budget',
  'restored',
] as const;
export type CancelCode = (typeof CANCEL_CODES)[number];

export type ApprovalOutcome =
  | { readonly state: RoleRequestState }
  | { readonly state: 'canceled'; readonly reason: CancelCode };

/** How long a request for approval stays open. */
export const APPROVAL_MS = HOUR_MS;

export function labelOfAction(action: ApprovalAction): string {
  return action.kind === 'delete' ? action.label : labelOf(action.purchase);
}

export function serverIdOf(action: ApprovalAction): ServerId | undefined {
  if (action.kind === 'delete') return action.serverId;
  return action.purchase.kind === 'renew' ? action.purchase.serverId : undefined;
}

/** The audit entry for a change of an approval; by its requester unless `facts` names another actor. */
export function auditOfApproval(
  approval: NewApproval,
  app: AppContext,
  facts: Omit<AuditFacts, 'workspaceId' | 'actorId' | 'surface'> & Partial<AuditFacts>,
): AuditEntry {
  const { id, workspaceId, requesterId, channelId } = approval;
  return makeAuditEntry(app, {
    workspaceId,
    actorId: requesterId,
    channelId,
    surface: 'modal',
    operationId: id,
    label: labelOfAction(approval),
    serverId: serverIdOf(approval),
    money: approval.kind === 'purchase' ? approval.price : undefined,
    ...facts,
  });
}
