import { z } from 'zod';
import { defineButton } from '../kit/button.ts';

const run = z.object({ run: z.string() });

/** Carries out the step that a workflow asks for. */
export const runButton = defineButton('workflow_run', run);
export const cancelButton = defineButton('workflow_cancel', run);

/** Opens the form that issues a workflow key. */
export const issueButton = defineButton('workflow_issue', z.object({}));
export const revokeKeyButton = defineButton(
  'workflow_revoke',
  z.object({ keyId: z.string(), page: z.number().int().min(0) }),
);

const page = z.object({ page: z.number().int().min(0) });
export const keyPages = {
  back: defineButton('workflow_back', page),
  further: defineButton('workflow_page', page),
} as const;
