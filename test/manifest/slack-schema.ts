import { z } from 'zod';

/**
 * What Slack takes of an app's manifest: the facts of the JSON schema that Slack publishes (slackapi/manifest-schema, v1,
 * July 2026), as far as the app's manifests use them: any other section or field is refused here.
 */
const text = (most: number) => z.string().min(1).max(most);
const address = (most: number) =>
  z
    .string()
    .regex(/^https?:\/\//)
    .max(most);

const displayInformation = z.strictObject({
  name: text(35),
  description: text(140).optional(),
  background_color: z
    .string()
    .regex(/^#([0-9a-f]{3}|[0-9a-f]{6})$/i)
    .optional(),
});

const slashCommand = z.strictObject({
  command: z.string().regex(/^\//).min(2).max(32),
  url: address(3000).optional(),
  description: text(2000),
  usage_hint: text(1000).optional(),
  should_escape: z.boolean().optional(),
});

const shortcut = z.strictObject({
  name: text(24),
  type: z.enum(['message', 'global']),
  callback_id: text(255),
  description: text(150),
});

/** A parameter of a Workflow step. */
const parameter = z.looseObject({
  type: z.enum(['string', 'slack#/types/channel_id']),
  title: z.string().optional(),
  description: z.string().optional(),
  is_required: z.boolean().optional(),
  hint: z.string().optional(),
});

/** Workflow steps by their callback ID. */
const functions = z.record(
  z.string().max(100),
  z.strictObject({
    title: z.string().max(255),
    description: z.string(),
    input_parameters: z.record(z.string(), parameter),
    output_parameters: z.record(z.string(), parameter),
  }),
);

const features = z.strictObject({
  app_home: z
    .strictObject({
      home_tab_enabled: z.boolean().optional(),
      messages_tab_enabled: z.boolean().optional(),
      messages_tab_read_only_enabled: z.boolean().optional(),
    })
    .optional(),
  bot_user: z.strictObject({ display_name: text(80), always_online: z.boolean().optional() }).optional(),
  shortcuts: z.array(shortcut).min(1).max(10).optional(),
  slash_commands: z.array(slashCommand).min(1).max(50).optional(),
});

const scopeList = z.array(z.string()).optional();
const scopes = z
  .strictObject({ bot: scopeList, bot_optional: scopeList })
  // Not in the schema but on Slack's page about OAuth: the optional ones are marked in the list of all.
  .refine(({ bot = [], bot_optional = [] }) => bot_optional.every((scope) => bot.includes(scope)), {
    error: 'an optional scope that is not among the bot scopes is never asked for',
  });

const settings = z.strictObject({
  event_subscriptions: z
    .strictObject({ request_url: address(3500).optional(), bot_events: z.array(z.string()).optional() })
    .optional(),
  interactivity: z
    .strictObject({
      is_enabled: z.boolean(),
      request_url: address(3500).optional(),
      message_menu_options_url: address(3500).optional(),
    })
    .optional(),
  org_deploy_enabled: z.boolean().optional(),
  socket_mode_enabled: z.boolean().optional(),
  token_rotation_enabled: z.boolean().optional(),
  function_runtime: z.string().optional(),
});

export const slackManifest = z.strictObject({
  _metadata: z.strictObject({ major_version: z.int().optional() }).optional(),
  display_information: displayInformation,
  features: features.optional(),
  oauth_config: z
    .strictObject({
      redirect_urls: z.array(z.string().max(2500)).optional(),
      scopes: scopes.optional(),
    })
    .optional(),
  settings: settings.optional(),
  functions: functions.optional(),
});
