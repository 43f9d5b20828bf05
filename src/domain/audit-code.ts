import type { CancelDetails, DeleteEndDetails } from './approval.ts';
import type { HostingCode, RefusalCode } from './errors.ts';
import type { OperationRefusalDetails, UnconfirmedDetails } from './outcome.ts';

/** What can be wrong with a chain of audit entries. */
export type AuditProblem = 'changed' | 'removed' | 'reordered' | 'head' | 'key_missing';

/** Why something ended as it did: every code that is written to the audit. */
export type AuditCode =
  | RefusalCode
  | HostingCode
  | keyof OperationRefusalDetails
  | keyof UnconfirmedDetails
  | keyof CancelDetails
  | keyof DeleteEndDetails
  | AuditProblem
  | 'approved'
  | 'denied'
  | 'expired'
  | 'decided'
  | 'found_late'
  | 'not_shown';
