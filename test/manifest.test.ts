import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { commands } from '../src/slack/commands.ts';
import { readSources } from './support/sources.ts';

const url = z.url({ protocol: /^https$/ }).max(3500);

/** What Slack takes of an app's manifest, with its limits (slackapi/manifest-schema 1.0.0), as far as it is used. */
const schema = z.strictObject({
  _metadata: z.strictObject({ major_version: z.literal(1) }),
  display_information: z.strictObject({
    name: z.string().min(1).max(35),
    description: z.string().min(1).max(140),
    background_color: z.string().regex(/^#[0-9a-f]{6}$/i),
  }),
  features: z.strictObject({
    app_home: z.strictObject({
      home_tab_enabled: z.boolean(),
      messages_tab_enabled: z.boolean(),
      messages_tab_read_only_enabled: z.boolean(),
    }),
    bot_user: z.strictObject({ display_name: z.string().min(1).max(80), always_online: z.boolean() }),
    slash_commands: z
      .array(
        z.strictObject({
          command: z.string().regex(/^\/\S{1,31}$/),
          url,
          description: z.string().min(1).max(2000),
          usage_hint: z.string().max(1000),
          should_escape: z.boolean(),
        }),
      )
      .length(1),
  }),
  oauth_config: z.strictObject({
    scopes: z.strictObject({ bot: z.array(z.string()), bot_optional: z.array(z.string()) }),
  }),
  settings: z.strictObject({
    interactivity: z.strictObject({
      is_enabled: z.literal(true),
      request_url: url,
      message_menu_options_url: url,
    }),
    org_deploy_enabled: z.literal(false),
    socket_mode_enabled: z.literal(false),
    token_rotation_enabled: z.literal(false),
  }),
});

/** Which scopes each method of the Web API takes for what it is used for (Slack's method pages). */
const SCOPES_OF: Readonly<Record<string, readonly string[]>> = {
  'auth.test': [],
  'views.open': [],
  'views.update': [],
  'chat.postMessage': ['chat:write'],
  'chat.postEphemeral': ['chat:write'],
  'chat.update': ['chat:write'],
  'users.info': ['users:read'],
  'usergroups.list': ['usergroups:read'],
  'usergroups.users.list': ['usergroups:read'],
  // One for public channels, one for private ones.
  'conversations.info': ['channels:read', 'groups:read'],
};

const manifest = schema.parse(parse(readFileSync('manifest.yml', 'utf8')));
const [command] = manifest.features.slash_commands;

describe('the manifest', () => {
  it('has one command, /vps, whose hint names subcommands that exist, help among them', () => {
    expect(command?.command).toBe('/vps');
    const hinted = command?.usage_hint.match(/[a-z]+/g) ?? [];
    expect(commands.map(({ name }) => name)).toEqual(expect.arrayContaining(hinted));
    expect(hinted).toContain('help');
  });

  it('has a Messages tab that users can write to: without it Slack refuses every direct message', () => {
    expect(manifest.features.app_home).toEqual({
      home_tab_enabled: true,
      messages_tab_enabled: true,
      messages_tab_read_only_enabled: false,
    });
  });

  it('has Slack pass users and channels by ID', () => {
    expect(command?.should_escape).toBe(true);
  });

  it('requests the scopes of the methods that are called, and no others', () => {
    const slackApi = readSources().find(({ path }) => path === 'slack/transport/slack-api.ts')?.code ?? '';
    const methods = [...slackApi.matchAll(/call\(\s*'([a-z.]+)'/gi)].map(([, method = '']) => method);
    expect(methods.length).toBeGreaterThan(8);
    expect(methods.filter((method) => SCOPES_OF[method] === undefined)).toEqual([]);
    const needed = new Set(['commands', ...methods.flatMap((method) => SCOPES_OF[method] ?? [])]);
    const { bot, bot_optional: optional } = manifest.oauth_config.scopes;
    expect([...bot, ...optional].sort()).toEqual([...needed].sort());
  });

  it('makes the scopes for users, groups and channels optional', () => {
    expect(manifest.oauth_config.scopes.bot).toEqual(['commands', 'chat:write']);
  });

  it('sends everything to the one path that checks Slack’s signature', () => {
    const { interactivity } = manifest.settings;
    const urls = [command?.url, interactivity.request_url, interactivity.message_menu_options_url];
    expect(new Set(urls).size).toBe(1);
    expect(new URL(urls[0] ?? '').pathname).toBe('/slack/events');
  });

  it('lets long menus load their choices, which some need', () => {
    const menus = commands.flatMap(({ suggestions }) => suggestions);
    expect(menus.length).toBeGreaterThan(0);
    expect(manifest.settings.interactivity.message_menu_options_url).toBeTruthy();
  });
});
