import type { RefusalWords } from '../kit/refusal-words.ts';
import { codeTyped, count } from '../kit/text.ts';

/** What the refusals of workflows say. */
export const workflowRefusalWords = {
  workflow_key_invalid: () => 'The workflow’s key doesn’t permit this. Nothing was done.',
  workflow_key_name: ({ name }) =>
    `There’s already a workflow key called ${codeTyped(name)}. Choose another name.`,
  workflow_keys_full: ({ most }) =>
    `This workspace has ${count(most, 'workflow key')}, which is the limit. Revoke one that you no longer use.`,
  workflow_key_gone: () => 'This workflow key was already revoked.',
  workflow_run_over: () => 'This request was already answered or has expired. Nothing was done.',
} satisfies Partial<RefusalWords>;
