import type { Delivery } from '../deliver.ts';
import { escapeTyped } from '../mentions.ts';
import { sendChanged } from '../message-events.ts';
import { SlackRefusal } from '../refusal.ts';
import type { User } from '../workspace.ts';
import type { World } from '../world.ts';
import { checkActive, getMessage } from './places.ts';

/**
 * A user edits a message of theirs.
 * @throws SlackRefusal account_inactive, message_not_found, cant_update_message
 */
export async function edit(
  world: World,
  user: User,
  at: { readonly channel: string; readonly ts: string },
  text: string,
): Promise<Delivery | undefined> {
  checkActive(world, user);
  const message = getMessage(world, user, at);
  if (message.user !== user.id)
    throw new SlackRefusal('cant_update_message', 'You can only edit your own messages');
  const changed = world.messages.change(message, escapeTyped(text, world), message.blocks);
  return sendChanged(world, changed, message);
}
