import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { commands } from '../../src/commands.ts';
import { shortcuts } from '../../src/servers/card.ts';
import { STEP } from '../../src/slack/payloads.ts';
import { readSources } from '../support/sources.ts';
import { slackManifest } from './slack-schema.ts';

/** Which scopes each method of the Web API takes for what it is used for (Slack's method pages). */
const SCOPES_OF: Readonly<Record<string, readonly string[]>> = {
  'auth.test': [],
  'views.open': [],
  'views.update': [],
  'views.publish': [],
  'conversations.members': ['channels:read', 'groups:read'],
  'chat.postMessage': ['chat:write'],
  'chat.postEphemeral': ['chat:write'],
  'chat.update': ['chat:write'],
  'reactions.add': ['reactions:write'],
  'users.info': ['users:read'],
  'users.list': ['users:read'],
  'usergroups.list': ['usergroups:read'],
  'usergroups.users.list': ['usergroups:read'],
  // One for public channels, one for private ones.
  'conversations.info': ['channels:read', 'groups:read'],
  'functions.completeSuccess': [],
  'functions.completeError': [],
};

/** The scope without which Slack doesn't send an event (Slack's event pages). */
const SCOPES_OF_EVENTS: Readonly<Record<string, readonly string[]>> = {
  app_mention: ['app_mentions:read'],
  'message.im': ['im:history'],
};

const read = (path: string): unknown => parse(readFileSync(path, 'utf8'));
const manifest = slackManifest.parse(read('manifest.yml'));
const { features, oauth_config, settings } = manifest;
const [command] = features.slash_commands;
const { bot, bot_optional: optional } = oauth_config.scopes;

describe('the manifest for Socket Mode', () => {
  const socket = slackManifest.parse(read('manifest.socket.yml'));

  it('is the other one without addresses, and with Socket Mode on', () => {
    const withoutAddresses: unknown = JSON.parse(JSON.stringify(manifest), (key, value) =>
      /(^|_)urls?$/.test(key) ? undefined : value,
    );
    expect(withoutAddresses).toMatchObject({ settings: { socket_mode_enabled: false } });
    const settings = { ...socket.settings, socket_mode_enabled: false };
    expect({ ...socket, settings }).toEqual(withoutAddresses);
    expect(socket.settings.socket_mode_enabled).toBe(true);
    expect(JSON.stringify(socket)).not.toContain('http');
  });
});

describe('the manifest with the step for workflows', () => {
  const { functions, settings, ...rest } = slackManifest.parse(read('manifest.workflow.yml'));

  it('is the other one with the step, and what Slack demands for it', () => {
    const { settings: before, ...others } = manifest;
    expect(rest).toEqual(others);
    const events = [...before.event_subscriptions.bot_events, 'function_executed'];
    expect(settings).toEqual({
      ...before,
      event_subscriptions: { ...before.event_subscriptions, bot_events: events },
      org_deploy_enabled: true,
      function_runtime: 'remote',
    });
  });

  it('defines the step that the app knows, with text and a channel as its inputs, and text as its outputs', () => {
    expect(Object.keys(functions ?? {})).toEqual([STEP.id]);
    const { input_parameters: inputs = {}, output_parameters: outputs = {} } = functions?.[STEP.id] ?? {};
    expect(Object.keys(inputs)).toEqual(STEP.inputs);
    expect(Object.keys(outputs)).toEqual(STEP.outputs);
    const required = Object.entries(inputs).filter(([, { is_required }]) => is_required);
    expect(required.map(([name]) => name)).toEqual(['action', 'server']);
    const { channel, ...texts } = inputs;
    expect(channel?.type).toBe('slack#/types/channel_id');
    for (const [name, parameter] of [...Object.entries(texts), ...Object.entries(outputs)])
      expect(parameter, name).toMatchObject({ type: 'string', name });
  });

  it('says beside the key that everyone who can edit the workflow can read it', () => {
    expect(functions?.[STEP.id]?.input_parameters.key?.hint).toContain('can read the key');
  });
});

describe('the manifest', () => {
  it('has one command, /vps, whose hint names subcommands that exist, help among them', () => {
    expect(command?.command).toBe('/vps');
    const hinted = command?.usage_hint?.match(/[a-z]+/g) ?? [];
    expect(commands.map(({ name }) => name)).toEqual(expect.arrayContaining(hinted));
    expect(hinted).toContain('help');
  });

  it('has the app’s shortcuts, by their IDs', () => {
    expect(
      features.shortcuts.map(({ name, type, callback_id }) => ({ name, type, id: callback_id })),
    ).toEqual(shortcuts.map(({ name, type, id }) => ({ name, type, id })));
  });

  it('subscribes to mentions, direct messages and opened tabs, and to no other messages', () => {
    expect(settings.event_subscriptions.bot_events).toEqual([
      'app_mention',
      'message.im',
      'app_home_opened',
      'app_uninstalled',
      'tokens_revoked',
    ]);
  });

  it('requests the scopes of the methods that are called, and no others', () => {
    const slackApi = readSources().find(({ path }) => path === 'slack/slack-api.ts')?.code ?? '';
    const methods = [...slackApi.matchAll(/call\(\s*'([a-z.]+)'/gi)].map(([, method = '']) => method);
    expect(methods.length).toBeGreaterThan(8);
    expect(methods.filter((method) => SCOPES_OF[method] === undefined)).toEqual([]);
    const subscribed = settings.event_subscriptions.bot_events.flatMap(
      (event) => SCOPES_OF_EVENTS[event] ?? [],
    );
    const needed = new Set([
      'commands',
      ...subscribed,
      ...methods.flatMap((method) => SCOPES_OF[method] ?? []),
    ]);
    expect([...bot].sort()).toEqual([...needed].sort());
  });

  it('makes the scopes for users, groups and channels optional', () => {
    expect(bot.filter((scope) => !optional.includes(scope))).toEqual([
      'commands',
      'chat:write',
      'app_mentions:read',
      'im:history',
    ]);
  });

  it('sends everything to the one path that checks Slack’s signature', () => {
    const { interactivity, event_subscriptions } = settings;
    const urls = [
      command?.url,
      interactivity.request_url,
      interactivity.message_menu_options_url,
      event_subscriptions.request_url,
    ];
    expect(new Set(urls).size).toBe(1);
    expect(new URL(urls[0] ?? '').pathname).toBe('/slack/events');
  });
});
