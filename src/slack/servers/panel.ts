import { readDecidable } from '../../app/approvals/list-decidable.ts';
import { readPanel } from '../../app/servers/read-panel.ts';
import { waitingBlocks } from '../approvals/approval-card.ts';
import { textMessage } from '../kit/blocks.ts';
import type { ActionHandler } from '../kit/button.ts';
import type { SlackRequest } from '../transport/request.ts';
import { approvalsButton } from './buttons.ts';
import { panelMessage } from './panel-message.ts';

/** What a bare `/vps` shows. */
export async function showPanel(request: SlackRequest): Promise<void> {
  const panel = await request.execute(readPanel, {});
  await request.reply.send(panelMessage(panel, request));
}

/** A message has at most 50 blocks. */
const APPROVALS_SHOWN = 10;

export const panelActions: readonly ActionHandler[] = [
  approvalsButton.on(async (_value, request) => {
    const pending = await request.execute(readDecidable, {});
    const shown = pending.slice(0, APPROVALS_SHOWN);
    const words =
      pending.length === 0
        ? 'No approvals are waiting for you.'
        : `*Waiting for your approval*${pending.length > shown.length ? ` (the oldest ${shown.length} of ${pending.length})` : ''}`;
    const each = shown.flatMap((approval) =>
      waitingBlocks({ approval, canAnswer: true, isOwn: false }, request.currency),
    );
    await request.reply.send(textMessage(words, ...each));
  }),
];
