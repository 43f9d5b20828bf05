import { sendPosted } from './slack/events.ts';
import { OTHER_BOT } from './slack/workspace.ts';
import type { World } from './slack/world.ts';

/** Posts an alert about a server in #ops, as Alertmanager does: in an attachment, without a text. */
export async function postAlert(world: World, label: string): Promise<void> {
  const ops = world.channels.find(({ name }) => name === 'ops');
  if (!ops) throw new Error('There is no channel #ops');
  const title = `[FIRING:1] InstanceDown (${label})`;
  const text = `${label}:9100 has not answered for 2 minutes.`;
  const attachments = [{ color: '#d00000', title, text, fallback: title }];
  const alert = world.messages.post({ channel: ops.id, user: OTHER_BOT.id, text: '', attachments });
  await sendPosted(world, alert);
}
