import { z } from 'zod';

/** One input or output of a step. */
export interface StepParameter {
  readonly name: string;
  /** `string`, `slack#/types/channel_id` … */
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly isRequired: boolean;
}

/** A step that an app offers in workflows, as its manifest defines it. */
export interface StepDefinition {
  /** Its callback ID. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly inputs: readonly StepParameter[];
  readonly outputs: readonly StepParameter[];
}

const parameters = z.record(
  z.string(),
  z.object({
    type: z.string(),
    title: z.string().default(''),
    description: z.string().default(''),
    is_required: z.boolean().default(false),
  }),
);

/** `functions` of a manifest (version 1). */
export const functionsIn = z
  .record(
    z.string().max(100),
    z.object({
      title: z.string().max(255),
      description: z.string(),
      input_parameters: parameters,
      output_parameters: parameters,
    }),
  )
  .default({});

interface Settings {
  readonly org_deploy_enabled: boolean;
  readonly function_runtime: string;
  readonly event_subscriptions?: { readonly bot_events: readonly string[] } | undefined;
}

/**
 * The steps that appear in Workflow Builder: only those of apps that opted in to installs for an organization, that run the
 * steps themselves, and that subscribe to their event (Slack's "Custom Steps" page).
 */
export function readSteps(
  functions: z.output<typeof functionsIn>,
  { org_deploy_enabled, function_runtime, event_subscriptions }: Settings,
): readonly StepDefinition[] {
  const isHeard = event_subscriptions?.bot_events.includes('function_executed') ?? false;
  if (!org_deploy_enabled || function_runtime !== 'remote' || !isHeard) return [];
  return Object.entries(functions).map(([id, { title, description, ...step }]) => ({
    id,
    title,
    description,
    inputs: listParameters(step.input_parameters),
    outputs: listParameters(step.output_parameters),
  }));
}

function listParameters(given: z.output<typeof parameters>): readonly StepParameter[] {
  return Object.entries(given).map(([name, { is_required: isRequired, ...more }]) => ({
    name,
    ...more,
    isRequired,
  }));
}
