import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { commands } from '../../src/commands.ts';
import { shortcuts } from '../../src/servers/show.ts';
import { STEP } from '../../src/slack/kit/home-view.ts';
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

const { features, oauth_config, settings } = slackManifest.parse(parse(readFileSync('manifest.yml', 'utf8')));
const [command] = features?.slash_commands ?? [];
const { bot = [], bot_optional: optional = [] } = oauth_config?.scopes ?? {};

describe('the manifest for Socket Mode', () => {
  const read = (path: string) => slackManifest.parse(parse(readFileSync(path, 'utf8')));
  const socket = read('manifest.socket.yml');

  it('is the other one without addresses, and with Socket Mode on', () => {
    const withoutAddresses: unknown = JSON.parse(JSON.stringify(read('manifest.yml')), (key, value) =>
      /(^|_)urls?$/.test(key) ? undefined : value,
    );
    expect(withoutAddresses).toMatchObject({ settings: { socket_mode_enabled: false } });
    const settings = { ...socket.settings, socket_mode_enabled: false };
    expect({ ...socket, settings }).toEqual(withoutAddresses);
    expect(socket.settings?.socket_mode_enabled).toBe(true);
    expect(JSON.stringify(socket)).not.toContain('http');
  });

  it('explains each scope as the other one does', () => {
    const comments = (path: string) => readFileSync(path, 'utf8').match(/^ {6,}#.*$/gm);
    expect(comments('manifest.socket.yml')).toEqual(comments('manifest.yml'));
  });
});

describe('the manifest with the step for workflows', () => {
  const read = (path: string) => slackManifest.parse(parse(readFileSync(path, 'utf8')));
  const { functions, settings, ...rest } = read('manifest.workflow.yml');

  it('is the other one with the step, and what Slack demands for it', () => {
    const { settings: before, ...others } = read('manifest.yml');
    expect(rest).toEqual(others);
    const events = [...(before?.event_subscriptions?.bot_events ?? []), 'function_executed'];
    expect(settings).toEqual({
      ...before,
      event_subscriptions: { ...before?.event_subscriptions, bot_events: events },
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
  it('is of the version that Slack’s schema for such apps describes, over HTTPS', () => {
    expect(parse(readFileSync('manifest.yml', 'utf8'))).toMatchObject({ _metadata: { major_version: 1 } });
    expect(command?.url).toMatch(/^https:/);
  });

  it('has one command, /vps, whose hint names subcommands that exist, help among them', () => {
    expect(command?.command).toBe('/vps');
    const hinted = command?.usage_hint?.match(/[a-z]+/g) ?? [];
    expect(commands.map(({ name }) => name)).toEqual(expect.arrayContaining(hinted));
    expect(hinted).toContain('help');
  });

  it('has the app’s shortcuts, by their IDs', () => {
    expect(
      features?.shortcuts?.map(({ name, type, callback_id }) => ({ name, type, id: callback_id })),
    ).toEqual(shortcuts.map(({ name, type, id }) => ({ name, type, id })));
  });

  it('subscribes to mentions, direct messages and opened tabs, and to no other messages', () => {
    expect(settings?.event_subscriptions?.bot_events).toEqual([
      'app_mention',
      'message.im',
      'app_home_opened',
      'app_uninstalled',
      'tokens_revoked',
    ]);
  });

  it('has a Messages tab that users can write to: without it Slack refuses every direct message', () => {
    expect(features?.app_home).toEqual({
      home_tab_enabled: true,
      messages_tab_enabled: true,
      messages_tab_read_only_enabled: false,
    });
  });

  it('has Slack pass users and channels by ID', () => {
    expect(command?.should_escape).toBe(true);
  });

  it('requests the scopes of the methods that are called, and no others', () => {
    const slackApi = readSources().find(({ path }) => path === 'slack/slack-api.ts')?.code ?? '';
    const methods = [...slackApi.matchAll(/call\(\s*'([a-z.]+)'/gi)].map(([, method = '']) => method);
    expect(methods.length).toBeGreaterThan(8);
    expect(methods.filter((method) => SCOPES_OF[method] === undefined)).toEqual([]);
    const subscribed = (settings?.event_subscriptions?.bot_events ?? []).flatMap(
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
    const { interactivity, event_subscriptions } = settings ?? {};
    const events = event_subscriptions ? [event_subscriptions.request_url] : [];
    const urls = [
      command?.url,
      interactivity?.request_url,
      interactivity?.message_menu_options_url,
      ...events,
    ];
    expect(new Set(urls).size).toBe(1);
    expect(new URL(urls[0] ?? '').pathname).toBe('/slack/events');
  });

  it('lets long menus load their choices, which some need', () => {
    const menus = commands.flatMap(({ suggestions }) => suggestions);
    expect(menus.length).toBeGreaterThan(0);
    expect(settings?.interactivity?.message_menu_options_url).toBeTruthy();
  });
});

type Path = readonly (string | number)[];

/** The repository's manifest with one thing changed; `undefined` takes it out. */
function changed(path: Path, value: unknown): unknown {
  const manifest: unknown = parse(readFileSync('manifest.yml', 'utf8'));
  const parent = path.slice(0, -1).reduce((place: unknown, key) => childOf(place, key), manifest);
  const key = path.at(-1) ?? '';
  if (typeof parent !== 'object' || parent === null) throw new Error(`nothing at ${path.join('.')}`);
  if (value === undefined) Reflect.deleteProperty(parent, key);
  else Reflect.set(parent, key, value);
  return manifest;
}

function childOf(parent: unknown, key: string | number): unknown {
  if (typeof parent !== 'object' || parent === null) return undefined;
  if (Reflect.get(parent, key) === undefined) Reflect.set(parent, key, {});
  return Reflect.get(parent, key);
}

const slashCommand = ['features', 'slash_commands', 0];
const scopes = ['oauth_config', 'scopes'];
const events = ['settings', 'event_subscriptions'];
const shortcut = {
  name: 'Manage servers',
  type: 'global',
  callback_id: 'manage',
  description: 'Opens a list',
};
const step = {
  title: 'Reboot',
  description: 'Reboots a server',
  input_parameters: {},
  output_parameters: {},
};
const many = (count: number, prefix = 'x') => Array.from({ length: count }, (_, at) => `${prefix}${at}`);

/** What Slack refuses, each by one fact. */
const REFUSED: Readonly<Record<string, readonly [Path, unknown]>> = {
  'no name': [['display_information', 'name'], undefined],
  'a name of 36 characters': [['display_information', 'name'], 'x'.repeat(36)],
  'an empty description': [['display_information', 'description'], ''],
  'a description of 141 characters': [['display_information', 'description'], 'x'.repeat(141)],
  'a long description of 174 characters': [['display_information', 'long_description'], 'x'.repeat(174)],
  'a color that is a word': [['display_information', 'background_color'], 'green'],
  'a section that Slack does not know': [['feature'], {}],
  'a workflow of an app that Slack hosts': [['workflows'], {}],
  'a version that is text': [['_metadata', 'major_version'], '1'],
  'a tab that Slack does not know': [['features', 'app_home', 'about_tab_enabled'], true],
  'a Messages tab that is “yes”': [['features', 'app_home', 'messages_tab_enabled'], 'yes'],
  'a bot without a name': [['features', 'bot_user', 'display_name'], undefined],
  'a bot’s name of 81 characters': [['features', 'bot_user', 'display_name'], 'x'.repeat(81)],
  'an empty list of commands': [['features', 'slash_commands'], []],
  'a command without its slash': [[...slashCommand, 'command'], 'vps'],
  'a command of 33 characters': [[...slashCommand, 'command'], `/${'x'.repeat(32)}`],
  'a command without a description': [[...slashCommand, 'description'], undefined],
  'a usage hint of 1,001 characters': [[...slashCommand, 'usage_hint'], 'x'.repeat(1001)],
  'an empty usage hint': [[...slashCommand, 'usage_hint'], ''],
  'a command’s address without http': [[...slashCommand, 'url'], 'vps.example.com/slack/events'],
  'a misspelled field of a command': [[...slashCommand, 'usageHint'], 'list'],
  'a shortcut’s name of 25 characters': [['features', 'shortcuts'], [{ ...shortcut, name: 'x'.repeat(25) }]],
  'a shortcut of no known type': [['features', 'shortcuts'], [{ ...shortcut, type: 'channel' }]],
  'a shortcut without a description': [['features', 'shortcuts'], [{ ...shortcut, description: '' }]],
  'eleven shortcuts': [['features', 'shortcuts'], Array.from({ length: 11 }, () => shortcut)],
  'an optional scope that is not among the bot scopes': [[...scopes, 'bot_optional'], ['team:read']],
  'a scope of 51 characters': [[...scopes, 'bot', 0], 'x'.repeat(51)],
  '256 scopes': [[...scopes, 'bot'], many(256)],
  'scopes of an unknown kind': [[...scopes, 'admin'], []],
  'the same redirect address twice': [
    ['oauth_config', 'redirect_urls'],
    ['https://a.example', 'https://a.example'],
  ],
  'a redirect address of 2,501 characters': [['oauth_config', 'redirect_urls'], ['x'.repeat(2501)]],
  'interactivity that is neither on nor off': [['settings', 'interactivity', 'is_enabled'], undefined],
  'an address for interactivity of 3,501 characters': [
    ['settings', 'interactivity', 'request_url'],
    `https://${'x'.repeat(3493)}`,
  ],
  'the same event twice': [
    [...events, 'bot_events'],
    ['app_mention', 'app_mention'],
  ],
  '101 events': [[...events, 'bot_events'], many(101)],
  'an event of 51 characters': [[...events, 'bot_events'], ['x'.repeat(51)]],
  'an unknown setting': [['settings', 'retries_enabled'], true],
  'Socket Mode that is a word': [['settings', 'socket_mode_enabled'], 'false'],
  'a Workflow step without output parameters': [
    ['functions'],
    { reboot: { ...step, output_parameters: undefined } },
  ],
  'a Workflow step with a misspelled field': [['functions'], { reboot: { ...step, callback: 'reboot' } }],
  'a Workflow step with an input of an unknown type': [
    ['functions'],
    { reboot: { ...step, input_parameters: { server: { type: 'server' } } } },
  ],
  '51 Workflow steps': [['functions'], Object.fromEntries(many(51, 'step').map((id) => [id, step]))],
};

/** What Slack takes, at the edge of a limit. */
const TAKEN: Readonly<Record<string, readonly [Path, unknown]>> = {
  'a name of 35 characters': [['display_information', 'name'], 'x'.repeat(35)],
  'a short color': [['display_information', 'background_color'], '#fff'],
  'ten shortcuts': [['features', 'shortcuts'], Array.from({ length: 10 }, () => shortcut)],
  'a usage hint of 1,000 characters': [[...slashCommand, 'usage_hint'], 'x'.repeat(1000)],
  'no usage hint': [[...slashCommand, 'usage_hint'], undefined],
  'a command without an address, as in Socket Mode': [[...slashCommand, 'url'], undefined],
  'a hundred events': [[...events, 'bot_events'], many(100)],
  'a Workflow step': [
    ['functions'],
    { reboot: { ...step, input_parameters: { server: { type: 'string' } } } },
  ],
  'no optional scopes': [[...scopes, 'bot_optional'], undefined],
};

describe('Slack takes', () => {
  it.each(Object.entries(TAKEN))('%s', (_name, [path, value]) => {
    expect(slackManifest.safeParse(changed(path, value)).error).toBeUndefined();
  });
});

describe('Slack refuses', () => {
  it.each(Object.entries(REFUSED))('%s', (_name, [path, value]) => {
    expect(slackManifest.safeParse(changed(path, value)).success).toBe(false);
  });
});
