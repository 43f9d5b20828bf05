import type { KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import type { DeleteReview } from '../../app/servers/delete-server.ts';
import { deletionWord } from '../../domain/label.ts';
import type { Server } from '../../domain/server.ts';
import { countPaidDays } from '../../domain/time.ts';
import { context, facts, section } from '../kit/blocks.ts';
import { defineModal } from '../kit/modal.ts';
import type { Origin } from '../kit/origin.ts';
import { stateWords } from '../kit/server-state.ts';
import { codeLabel, count, escapeText, shorten } from '../kit/text.ts';
import { describePaidUntil } from './describe-server.ts';

export const DELETE_TITLE = 'Delete a server';
const TYPE_IT = 'Type the label';

/** The label has to be typed, so that no server is deleted by accident. */
export const deleteDialog = defineModal(
  'delete',
  z.object({
    serverId: z.number().int(),
    label: z.string(),
    word: z.string(),
    on: z.literal('card').exactOptional(),
  }),
  z.object({ label: z.string(TYPE_IT).trim().min(1, TYPE_IT) }),
);

/** Shows what will be lost. `on`: it was opened from the server's card, which then shows the outcome. */
export function deleteView(
  { server, takesApproval }: DeleteReview,
  origin: Origin,
  now: number,
  on?: 'card',
): ModalView {
  const word = deletionWord(server);
  return deleteDialog.view({
    origin,
    metadata: { serverId: server.id, label: shorten(server.label, 300), word, on },
    title: DELETE_TITLE,
    submit: 'Delete',
    blocks: [
      ...lossBlocks(server, now),
      ...(takesApproval ? [context(APPROVAL_WORDS)] : []),
      deleteDialog.textField('label', {
        label: 'Type the label to delete it',
        placeholder: shorten(word, 150),
      }),
    ],
  });
}

const APPROVAL_WORDS = 'Another manager must approve this first. Nothing is deleted until then.';

/** What is lost, once, in a paragraph: not every client draws an `alert`, and this must not be missed. */
function lossBlocks(server: Server, now: number): KnownBlock[] {
  const days = server.paidUntil === undefined ? undefined : countPaidDays(server.paidUntil, now);
  const lost = days === undefined ? 'the rest of the paid month' : count(days, 'paid day');
  return [
    section(`:warning: *You’ll lose ${lost} (no refund) and all data on ${codeLabel(server.label)}.*`),
    facts([
      ['State', stateWords(server)],
      ['Paid until', describePaidUntil(server, now)],
      ['IPv4', escapeText(server.ipv4 ?? 'none yet')],
      ['ID', String(server.id)],
    ]),
  ];
}
