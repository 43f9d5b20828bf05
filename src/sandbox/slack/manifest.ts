import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import type { PageShortcut } from './page-api.ts';

/** What an app's manifest lets it do, as Slack reads it: what is left out is switched off. */
export type ManifestFacts = ReturnType<typeof parseManifest>;

/** A step that an app offers in workflows, as its manifest defines it. */
export type StepDefinition = ManifestFacts['steps'][number];

export type StepParameter = StepDefinition['inputs'][number];

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
export function parseManifest(text: string) {
  const { features, oauth_config, settings, functions } = manifest.parse(parse(text));
  const [command] = features.slash_commands;
  const { app_home: home } = features;
  const { interactivity, socket_mode_enabled: isSocketMode } = settings;
  const events: readonly string[] = settings.event_subscriptions?.bot_events ?? [];
  const isInteractive = interactivity?.is_enabled ?? false;
  // Only apps that opted in to installs for an organization, that run the steps themselves, and that subscribe to their
  // event have steps in Workflow Builder (Slack's "Custom Steps" page).
  const hasSteps =
    settings.org_deploy_enabled &&
    settings.function_runtime === 'remote' &&
    events.includes('function_executed');
  return {
    command: command?.command ?? '',
    description: command?.description ?? '',
    usageHint: command?.usage_hint ?? '',
    /** Users and channels in a command's text come by ID. */
    shouldEscape: command?.should_escape ?? false,
    shortcuts: features.shortcuts as readonly PageShortcut[],
    /** An admin may leave out the optional ones among them. */
    scopes: oauth_config.scopes.bot as readonly string[],
    hasHomeTab: home.home_tab_enabled,
    /** Without it, the app can't send direct messages. */
    hasMessagesTab: home.messages_tab_enabled,
    /** Users can't write to the app in its conversation. */
    isMessagesTabReadOnly: home.messages_tab_read_only_enabled,
    events,
    /** Presses, submissions and shortcuts reach the app. */
    isInteractive,
    /** External menus ask the app for their options. Over WebSockets, nothing has an address. */
    hasMenuOptions: isSocketMode ? isInteractive : interactivity?.message_menu_options_url !== undefined,
    /** Slack sends everything over WebSockets that the app opens. */
    isSocketMode,
    /** Where Slack sends the browser back to after an install. */
    redirectUrls: oauth_config.redirect_urls as readonly string[],
    rotatesTokens: settings.token_rotation_enabled,
    /** The steps that it offers in workflows, by their callback IDs. */
    steps: hasSteps ? Object.entries(functions).map(([id, step]) => ({ id, ...step })) : [],
  };
}

/** The type is `string`, `slack#/types/channel_id` … */
const parameters = z
  .record(
    z.string(),
    z.object({
      type: z.string(),
      title: z.string().default(''),
      description: z.string().default(''),
      is_required: z.boolean().default(false),
    }),
  )
  .transform((given) => Object.entries(given).map(([name, parameter]) => ({ name, ...parameter })));

const functionsIn = z
  .record(
    z.string().max(100),
    z
      .object({
        title: z.string().max(255),
        description: z.string(),
        input_parameters: parameters,
        output_parameters: parameters,
      })
      .transform(({ input_parameters: inputs, output_parameters: outputs, ...step }) => ({
        ...step,
        inputs,
        outputs,
      })),
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
      .array(
        z
          .object({ name: z.string(), type: z.enum(['global', 'message']), callback_id: z.string() })
          .transform(({ callback_id: callbackId, ...shortcut }) => ({ ...shortcut, callbackId })),
      )
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
