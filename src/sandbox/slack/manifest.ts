import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import type { PageShortcut } from './page-api.ts';

/** What an app's manifest lets it do, as Slack reads it: what is left out is switched off. */
export interface ManifestFacts {
  readonly command: string;
  readonly description: string;
  readonly usageHint: string;
  /** Users and channels in a command's text come by ID. */
  readonly shouldEscape: boolean;
  readonly shortcuts: readonly PageShortcut[];
  /** An admin may leave out the optional ones among them. */
  readonly scopes: readonly string[];
  readonly hasHomeTab: boolean;
  /** Without it, the app can't send direct messages. */
  readonly hasMessagesTab: boolean;
  /** Users can't write to the app in its conversation. */
  readonly isMessagesTabReadOnly: boolean;
  /** The events that the app subscribes to: `app_mention`, `message.im`. */
  readonly events: readonly string[];
  /** Presses, submissions and shortcuts reach the app. */
  readonly isInteractive: boolean;
  /** External menus ask the app for their options. */
  readonly hasMenuOptions: boolean;
  /** Slack sends everything over WebSockets that the app opens. */
  readonly isSocketMode: boolean;
  /** Where Slack sends the browser back to after an install. */
  readonly redirectUrls: readonly string[];
  readonly rotatesTokens: boolean;
  /** The steps that it offers in workflows, where all that Slack demands for that is there. */
  readonly steps: readonly StepDefinition[];
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

/** One input or output of a step. */
export interface StepParameter {
  readonly name: string;
  /** `string`, `slack#/types/channel_id` … */
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly isRequired: boolean;
}

/** One of the manifests that this repository ships. Each is parsed once: hundreds of tests start a local Slack. */
export function readOwnManifest(mode: OwnManifest = 'http'): ManifestFacts {
  const facts = known.get(mode) ?? parseManifest(readFileSync(pathOf(mode), 'utf8'));
  known.set(mode, facts);
  return facts;
}

const OWN_MANIFESTS = {
  http: 'manifest.yml',
  socket: 'manifest.socket.yml',
  workflow: 'manifest.workflow.yml',
} as const;

type OwnManifest = keyof typeof OWN_MANIFESTS;

const known = new Map<OwnManifest, ManifestFacts>();
const pathOf = (mode: OwnManifest) => new URL(`../../../${OWN_MANIFESTS[mode]}`, import.meta.url);

/** The same app with the steps for workflows, which its own manifest adds to the others. */
export function withSteps(facts: ManifestFacts): ManifestFacts {
  const { steps } = readOwnManifest('workflow');
  return { ...facts, steps, events: [...facts.events, 'function_executed'] };
}

/** Reads the text of a manifest. @throws ZodError where it is not one */
export function parseManifest(text: string): ManifestFacts {
  const { features, oauth_config, settings, functions } = manifest.parse(parse(text));
  const [command] = features.slash_commands;
  const { interactivity, socket_mode_enabled: isSocketMode } = settings;
  const isInteractive = interactivity?.is_enabled ?? false;
  return {
    command: command?.command ?? '',
    description: command?.description ?? '',
    usageHint: command?.usage_hint ?? '',
    shouldEscape: command?.should_escape ?? false,
    shortcuts: features.shortcuts.map(({ name, type, callback_id }) => ({
      name,
      type,
      callbackId: callback_id,
    })),
    scopes: oauth_config.scopes.bot,
    hasHomeTab: features.app_home.home_tab_enabled,
    hasMessagesTab: features.app_home.messages_tab_enabled,
    isMessagesTabReadOnly: features.app_home.messages_tab_read_only_enabled,
    events: settings.event_subscriptions?.bot_events ?? [],
    isInteractive,
    // Over WebSockets, nothing has an address.
    hasMenuOptions: isSocketMode ? isInteractive : interactivity?.message_menu_options_url !== undefined,
    isSocketMode,
    redirectUrls: oauth_config.redirect_urls,
    rotatesTokens: settings.token_rotation_enabled,
    steps: readSteps(functions, settings),
  };
}

interface Settings {
  readonly org_deploy_enabled: boolean;
  readonly function_runtime: string;
  readonly event_subscriptions?: { readonly bot_events: readonly string[] } | undefined;
}

/**
 * The steps that appear in Workflow Builder: only those of apps that opted in to installs for an organization, that run the
 * steps themselves, and that subscribe to their event (Slack's "Custom Steps" page).
 */
function readSteps(
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
const functionsIn = z
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

const manifest = z.object({
  functions: functionsIn,
  features: z.object({
    app_home: z
      .object({
        home_tab_enabled: z.boolean().default(false),
        messages_tab_enabled: z.boolean().default(false),
        messages_tab_read_only_enabled: z.boolean().default(true),
      })
      .prefault({}),
    slash_commands: z
      .array(
        z.object({
          command: z.string(),
          description: z.string(),
          usage_hint: z.string().default(''),
          should_escape: z.boolean().default(false),
        }),
      )
      .default([]),
    shortcuts: z
      .array(z.object({ name: z.string(), type: z.enum(['global', 'message']), callback_id: z.string() }))
      .default([]),
  }),
  oauth_config: z.object({
    redirect_urls: z.array(z.string()).default([]),
    scopes: z.object({
      // Optional scopes are marked in a second list: a scope that stands there alone is never asked for.
      bot: z.array(z.string()).default([]),
    }),
  }),
  settings: z
    .object({
      event_subscriptions: z.object({ bot_events: z.array(z.string()).default([]) }).optional(),
      interactivity: z
        .object({ is_enabled: z.boolean(), message_menu_options_url: z.string().optional() })
        .optional(),
      org_deploy_enabled: z.boolean().default(false),
      function_runtime: z.string().default(''),
      token_rotation_enabled: z.boolean().default(false),
      socket_mode_enabled: z.boolean().default(false),
    })
    .prefault({}),
});
