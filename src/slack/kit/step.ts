/** The app's step in workflows, and its inputs and outputs, as `manifest.workflow.yml` defines them. */
export const STEP = {
  id: 'power_action',
  inputs: ['action', 'server', 'key', 'channel'],
  outputs: ['message', 'server', 'state'],
} as const;

/** What later steps of a workflow can use. */
export type StepOutputs = Readonly<Record<(typeof STEP.outputs)[number], string>>;
