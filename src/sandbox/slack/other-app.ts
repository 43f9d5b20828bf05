import { sendPosted } from './message-events.ts';
import type { MessageDraft } from './stored-message.ts';
import { OTHER_BOT } from './workspace.ts';
import type { World } from './world.ts';

/** What another app posts: an alert has attachments, and often no text. */
export type OtherAppsMessage = Partial<Pick<MessageDraft, 'text' | 'blocks' | 'attachments' | 'threadTs'>>;

/** Posts a message of another app, and gives its ts. */
export async function postAsOtherApp(
  world: World,
  channelName: string,
  message: OtherAppsMessage,
): Promise<string> {
  const channel = world.channels.find(({ name, kind }) => `#${name}` === channelName && kind !== 'dm');
  if (!channel) throw new Error(`There is no channel ${channelName}`);
  const draft = { channel: channel.id, user: OTHER_BOT.id, text: '', ...message };
  const posted = world.messages.post(draft);
  await sendPosted(world, posted);
  return posted.ts;
}
