import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { slackManifest } from './slack-schema.ts';

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

const command = ['features', 'slash_commands', 0];
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
  'a command without its slash': [[...command, 'command'], 'vps'],
  'a command of 33 characters': [[...command, 'command'], `/${'x'.repeat(32)}`],
  'a command without a description': [[...command, 'description'], undefined],
  'a usage hint of 1,001 characters': [[...command, 'usage_hint'], 'x'.repeat(1001)],
  'an empty usage hint': [[...command, 'usage_hint'], ''],
  'a command’s address without http': [[...command, 'url'], 'vps.example.com/slack/events'],
  'a misspelled field of a command': [[...command, 'usageHint'], 'list'],
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
  'a usage hint of 1,000 characters': [[...command, 'usage_hint'], 'x'.repeat(1000)],
  'no usage hint': [[...command, 'usage_hint'], undefined],
  'a command without an address, as in Socket Mode': [[...command, 'url'], undefined],
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
