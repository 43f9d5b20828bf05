import { z } from 'zod';

const text = (most: number) => z.string().min(1).max(most);
const flag = z.boolean().optional();
const address = z
  .string()
  .regex(/^https?:\/\//)
  .max(3000)
  .optional();

/** A parameter of a Workflow step. */
const parameter = z.looseObject({
  type: z.enum(['string', 'slack#/types/channel_id']),
  is_required: flag,
  hint: z.string().optional(),
});

const step = z.strictObject({
  title: text(255),
  description: z.string(),
  input_parameters: z.record(z.string(), parameter),
  output_parameters: z.record(z.string(), parameter),
});

const scopes = z
  .strictObject({ bot: z.array(z.string()), bot_optional: z.array(z.string()) })
  // Not in the schema but on Slack's page about OAuth: the optional ones are marked in the list of all.
  .refine(({ bot, bot_optional }) => bot_optional.every((scope) => bot.includes(scope)), {
    error: 'an optional scope that is not among the bot scopes is never asked for',
  });

const slashCommand = z.strictObject({
  command: z.string().regex(/^\//).min(2).max(32),
  url: address,
  description: text(2000),
  usage_hint: text(1000).optional(),
  should_escape: flag,
});

const shortcut = z.strictObject({
  name: text(24),
  type: z.enum(['message', 'global']),
  callback_id: text(255),
  description: text(150),
});

/**
 * What Slack takes of an app's manifest: the facts of the JSON schema that Slack publishes (slackapi/manifest-schema, v1,
 * July 2026), as far as the app's manifests use them: any other section or field is refused here.
 */
export const slackManifest = z.strictObject({
  _metadata: z.strictObject({ major_version: z.int() }).optional(),
  display_information: z.strictObject({
    name: text(35),
    description: text(140),
    background_color: z
      .string()
      .regex(/^#[0-9a-f]{6}$/i)
      .optional(),
  }),
  features: z.strictObject({
    app_home: z.strictObject({
      home_tab_enabled: flag,
      messages_tab_enabled: flag,
      messages_tab_read_only_enabled: flag,
    }),
    bot_user: z.strictObject({ display_name: text(80), always_online: flag }),
    shortcuts: z.array(shortcut).max(10),
    slash_commands: z.array(slashCommand).max(50),
  }),
  oauth_config: z.strictObject({ redirect_urls: z.array(text(2500)).optional(), scopes }),
  settings: z.strictObject({
    event_subscriptions: z.strictObject({ request_url: address, bot_events: z.array(z.string()) }),
    interactivity: z.strictObject({
      is_enabled: z.boolean(),
      request_url: address,
      message_menu_options_url: address,
    }),
    org_deploy_enabled: flag,
    socket_mode_enabled: flag,
    token_rotation_enabled: flag,
    function_runtime: z.string().optional(),
  }),
  functions: z.record(z.string().max(100), step).optional(),
});
