import { z } from 'zod';
import { defineButton } from '../kit/button.ts';

export const approvalId = z.object({ id: z.string() });
/** A second person's answers to a request for approval. */
export const approvalButton = {
  approve: defineButton('approval_approve', approvalId),
  deny: defineButton('approval_deny', approvalId),
  /** Opens the form in which it is denied with a reason. */
  denyWithReason: defineButton('approval_deny_reason', approvalId),
} as const;
/** The requester withdraws their request. */
export const withdrawApprovalButton = defineButton('approval_withdraw', approvalId);
