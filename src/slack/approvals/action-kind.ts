import type { ApprovalAction } from '../../domain/approval.ts';

/** What is requested, as one of the three things that may have to be approved. */
export function kindOf(action: ApprovalAction): 'create' | 'renew' | 'delete' {
  return action.kind === 'delete' ? 'delete' : action.purchase.kind;
}

/** The titles of the forms in which they are confirmed. */
export const TITLES = {
  create: 'Create a server',
  renew: 'Renew a server',
  delete: 'Delete a server',
} as const;
