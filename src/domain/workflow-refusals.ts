/** The refusals about workflows, with the details of each. */
export interface WorkflowRefusalDetails {
  /**
   * What a workflow came with does not permit this: no key of this workspace (or a revoked one), one that has expired, or one
   * for other actions.
   */
  workflow_key_invalid: { problem: 'unknown' | 'expired' | 'action' };
  workflow_key_name: { name: string };
  workflow_keys_full: { most: number };
  /** Another owner has revoked it. */
  workflow_key_gone: Record<never, never>;
  /** The run was answered, canceled or given up, or is being carried out. */
  workflow_run_over: Record<never, never>;
}
