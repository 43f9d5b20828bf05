import { textIn } from './json.ts';
import type { Json } from './page-api.ts';
import type { World } from './world.ts';

/** What a manifest calls the messages of each kind of channel (Slack's "message" event). */
const MESSAGES: Readonly<Record<string, string>> = {
  channel: 'message.channels',
  group: 'message.groups',
  im: 'message.im',
  mpim: 'message.mpim',
};

/** The scope that an event needs besides its subscription; those that are left out need none. */
const SCOPES: Readonly<Record<string, string>> = {
  app_mention: 'app_mentions:read',
  'message.channels': 'channels:history',
  'message.groups': 'groups:history',
  'message.im': 'im:history',
  'message.mpim': 'mpim:history',
};

/** Whether the app's manifest subscribes to an event, and its scopes allow it. */
export function isSubscribed({ app }: World, event: Json): boolean {
  const type = textIn(event, 'type');
  const name = type === 'message' ? (MESSAGES[textIn(event, 'channel_type')] ?? type) : type;
  const scope = SCOPES[name];
  return app.events.includes(name) && (scope === undefined || app.scopes.includes(scope));
}
