import type { KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import type { DeleteReview } from '../../app/servers/delete-server.ts';
import { deletionWord } from '../../domain/label.ts';
import type { Server } from '../../domain/server.ts';
import { countPaidDays } from '../../domain/time.ts';
import { alert, context, facts, section } from '../kit/blocks.ts';
import { defineModal } from '../kit/modal.ts';
import type { Origin } from '../kit/origin.ts';
import { codeLabel, count, escapeText, shorten } from '../kit/text.ts';
import { describePaidUntil } from './server-card.ts';

export const DELETE_TITLE = 'Delete a server';

/** The label has to be typed, so that no server is deleted by accident. */
export const deleteDialog = defineModal(
  'delete',
  z.object({ serverId: z.number().int(), label: z.string(), word: z.string() }),
  z.object({ label: z.string('Type its label').trim().min(1, 'Type its label') }),
);

/** Shows what will be lost. */
export function deleteView({ server, takesApproval }: DeleteReview, origin: Origin, now: number): ModalView {
  const word = deletionWord(server);
  return deleteDialog.view({
    origin,
    metadata: { serverId: server.id, label: shorten(server.label, 300), word },
    title: DELETE_TITLE,
    submit: 'Delete',
    blocks: [
      ...lossBlocks(server, now),
      ...(takesApproval ? [context(APPROVAL_WORDS)] : []),
      deleteDialog.textField('label', { label: 'Type the label to delete it', placeholder: word }),
    ],
  });
}

const APPROVAL_WORDS = 'Another manager has to approve this: nothing is deleted before they have said yes.';

function lossBlocks(server: Server, now: number): KnownBlock[] {
  const days = server.paidUntil === undefined ? undefined : countPaidDays(server.paidUntil, now);
  const lost = days === undefined ? 'What is left of its paid month' : `${count(days, 'paid day')}`;
  return [
    alert(`${lost} will be lost: not refunded. Everything on the server is gone for good.`, 'error'),
    // Not every client draws an alert.
    section(
      `Delete ${codeLabel(server.label)}? ${lost} will not be refunded, and everything on it is gone for good.`,
    ),
    facts([
      ['State', escapeText(server.state)],
      ['IPv4', escapeText(server.ipv4 ?? 'none yet')],
      ['Id', String(server.id)],
      ['Paid until', describePaidUntil(server, now)],
      ['Days lost', days === undefined ? 'unknown' : String(days)],
    ]),
  ];
}
