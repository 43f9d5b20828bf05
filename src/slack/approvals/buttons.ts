import { z } from 'zod';
import { defineButton } from '../kit/button.ts';

const approval = z.object({ approvalId: z.string() });
/** A second person's answers to a request for approval. */
export const approvalButton = {
  approve: defineButton('approval_approve', approval),
  deny: defineButton('approval_deny', approval),
} as const;
