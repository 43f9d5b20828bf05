import type { KnownBlock } from '@slack/types';
import { type Message, section } from '../kit/blocks.ts';
import { holdsSecret } from './fallback.ts';
import type { Reply } from './request.ts';

/**
 * The ways back to a user who pressed a button on Home, which has no channel: what would be a message stands above the
 * rest of Home, which shows what is true now. A root password is never part of a view: it is shown in the user's
 * conversation with the app, to them only.
 */
export function replyInHome(
  otherwise: Reply,
  show: (notices: readonly KnownBlock[]) => Promise<boolean>,
): Reply {
  let notices: readonly KnownBlock[] = [];
  const add = async (blocks: readonly KnownBlock[]) => {
    notices = [...notices, ...blocks];
    return show(notices);
  };
  const send = async (message: Message): Promise<boolean> => {
    if (!holdsSecret(message)) return (await add(knownBlocks(message))) || otherwise.send(message);
    const isSent = await otherwise.send(message);
    // Only one notice, even for a password in several messages.
    notices = notices.filter((notice) => notice !== SHOWN_IN_MESSAGES);
    await add([isSent ? SHOWN_IN_MESSAGES : NOT_SHOWN]);
    return isSent;
  };
  const none = async () => false;
  return { send, replace: send, edit: none, delete: none, announce: none };
}

/** Home takes no charts. */
function knownBlocks({ blocks, plainBlocks }: Message): KnownBlock[] {
  return (plainBlocks ?? blocks).filter((block): block is KnownBlock => block.type !== 'data_visualization');
}

const SHOWN_IN_MESSAGES = section(
  'The root password is in the *Messages* tab, visible only to you. If you don’t see it there, type `/vps password` in any channel.',
);
const NOT_SHOWN = section(
  'Slack didn’t confirm that it showed you the root password. If you don’t see all of it in the *Messages* tab, type `/vps password` in any channel.',
);
