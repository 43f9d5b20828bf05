import { expectEmptyAck, readAck } from '../acks.ts';
import type { Delivery } from '../deliver.ts';
import { sendInteraction } from '../interactions.ts';
import { shortcutPayload } from '../payloads.ts';
import { SlackRefusal } from '../refusal.ts';
import type { User } from '../workspace.ts';
import type { World } from '../world.ts';
import { checkActive, getMessage } from './places.ts';

/**
 * A user uses a global shortcut, or one on a message.
 * @throws SlackRefusal unknown_shortcut, message_not_found, not_interactive
 */
export async function useShortcut(
  world: World,
  user: User,
  callbackId: string,
  at?: { readonly channel: string; readonly ts: string },
): Promise<Delivery> {
  checkActive(world, user);
  const type = at ? 'message' : 'global';
  const known = world.app.shortcuts.some((each) => each.callbackId === callbackId && each.type === type);
  if (!known || !world.app.scopes.includes('commands'))
    throw new SlackRefusal('unknown_shortcut', `The app has no ${type} shortcut ${callbackId}`);
  if (user.isExternal)
    throw new SlackRefusal('shortcut_not_available', 'Shortcuts are not shared with other organizations');
  const message = at && getMessage(world, user, at);
  const payload = shortcutPayload(world, user, callbackId, message);
  const delivery = await sendInteraction(world, `shortcut ${callbackId}`, payload);
  expectEmptyAck(world, delivery.what, readAck(world, delivery));
  return delivery;
}
