import type { Button, ModalView } from '@slack/types';
import { describeReason, type Reason, type ReasonWords } from '../core/errors.ts';
import type { UserId } from '../core/ids.ts';
import type { ProvenRefusalDetails } from '../purchases/operation.ts';
import { notifyBriefly } from '../purchases/outcomes.ts';
import { actions, type Message, textMessage } from '../slack/kit/blocks.ts';
import { noticeView } from '../slack/kit/form.ts';
import { codeLabel, mention } from '../slack/kit/text.ts';
import { type NotifierParts, notifySafely } from '../slack/outbox.ts';
import { confirmerOf } from '../slack/reply.ts';
import { failedWords, isHosting, type StoredReason, wordsOfReason, wordsOfUnreachable } from '../words.ts';
import { deleteButton, showButton } from './buttons.ts';
import type { DeleteDoubtDetails, DeleteOperation } from './deletion.ts';

export const DELETE_TITLE = 'Delete a server';
/** The titles of that form once it has become a notice: what has become of the delete. */
const TITLES = {
  prepared: DELETE_TITLE,
  sent: DELETE_TITLE,
  settled: 'Server deleted',
  refused: 'Server not deleted',
  unconfirmed: 'Not confirmed',
} as const;

export function createDeleteNotifier(parts: NotifierParts) {
  const { outbox, log, currency } = parts;
  return {
    /** Notifies the user who confirmed it, and the channel once it is proven. True if Slack took the message. Never throws. */
    notify: (operation: DeleteOperation, approvedBy: UserId | undefined): Promise<boolean> =>
      notifySafely(operation.id, log, false, async () => {
        const { state, endedAt } = operation;
        const confirmer = confirmerOf(operation);
        const message = deleteMessage(operation, currency, approvedBy);
        const view = () => deleteNotice(operation, message);
        await outbox.updateFollowed(confirmer, view, { isFinal: endedAt !== undefined });
        const isAnnounced =
          state === 'settled' &&
          (await outbox.announce(confirmer, deletedAnnouncement(operation, approvedBy)));
        // A requester hasn't pressed anything just now, so the channel's message isn't enough.
        const isKnown = isAnnounced && approvedBy === undefined;
        return isKnown || outbox.notifyConfirmer(confirmer, message);
      }),
    /** Says that the database doesn't answer, so that it isn't known what becomes of the delete. */
    notifyUnsaved: (operation: DeleteOperation): Promise<void> =>
      notifyBriefly(
        operation,
        DELETE_TITLE,
        `${codeLabel(operation.deletion.label)}: ${wordsOfUnreachable(true)}`,
        parts,
      ),
  };
}

export function deleteNotice({ state }: DeleteOperation, { text }: Message): ModalView {
  return noticeView(TITLES[state], text);
}

/** What the user who confirmed a delete reads once it was sent or has ended, with what they can do next. */
export function deleteMessage(operation: DeleteOperation, currency: string, approvedBy?: UserId): Message {
  const words = deleteWords(operation, currency);
  const by = approvedBy === undefined ? '' : `${mention(approvedBy)} approved. `;
  const buttons = nextButtons(operation, approvedBy);
  return textMessage(`${by}${words}`, ...(buttons.length > 0 ? [actions(...buttons)] : []));
}

export function deletedAnnouncement(
  { actorId, deletion }: DeleteOperation,
  approvedBy: UserId | undefined,
): Message {
  const by = approvedBy === undefined ? '' : `, approved by ${mention(approvedBy)}`;
  return textMessage(`${mention(actorId)} deleted ${codeLabel(deletion.label)}${by}`);
}

/** No button if it is done; a look at the server if the outcome is unknown; otherwise the form again. */
function nextButtons({ state, reason, deletion }: DeleteOperation, approvedBy: UserId | undefined): Button[] {
  const { serverId: id } = deletion;
  if (state === 'unconfirmed')
    return reason.code === 'lost_account' ? [] : [showButton.element('Check again', { id })];
  if (state !== 'refused' || reason.code === 'unknown_server' || reason.code === 'not_found') return [];
  return [deleteButton.element(approvedBy === undefined ? 'Try again' : 'Request again…', { id })];
}

export function deleteWords(operation: DeleteOperation, currency: string): string {
  const { state, reason, deletion } = operation;
  const label = codeLabel(deletion.label);
  switch (state) {
    case 'settled':
      return `${label} was deleted.`;
    case 'refused':
      return refusedWords(operation, reason, currency);
    case 'unconfirmed':
      return `We’re not sure whether ${label} was deleted: ${describeReason(DOUBTS, reason)}`;
    default:
      return `${label} is being deleted.`;
  }
}

const unconfirmed = ({ isListed = false }: { readonly isListed?: boolean | undefined }) =>
  `the hosting API didn’t confirm it${isListed ? ', and the server is still listed' : ''}.`;

const DOUBTS: ReasonWords<DeleteDoubtDetails> = {
  no_answer: unconfirmed,
  unreadable_answer: unconfirmed,
  unknown_code: unconfirmed,
  checking: unconfirmed,
  lost_account: () =>
    'the hosting API didn’t confirm it, and the hosting account has been reconnected since then. Check the previous account’s page.',
  defect: () => 'something went wrong.',
  restored: () => 'the app’s database was restored from a backup.',
};

function refusedWords<Code extends keyof ProvenRefusalDetails>(
  { actorId, deletion }: DeleteOperation,
  reason: Reason<ProvenRefusalDetails, Code>,
  currency: string,
): string {
  const stored = reason as StoredReason;
  if (isHosting(stored)) return failedWords({ act: 'delete', label: deletion.label }, stored.code, {});
  const own = OWN_WORDS[reason.code];
  const why = own ? own(reason.details, actorId) : `. ${wordsOfReason(stored, currency)}`;
  return `${codeLabel(deletion.label)} wasn’t deleted${why}`;
}

/** To follow "`web-1` wasn't deleted", where the words that a reason has elsewhere are about an order or about what was typed. */
const OWN_WORDS: Partial<ReasonWords<ProvenRefusalDetails, [actorId: UserId]>> = {
  role_needed: (_, actorId) => `: ${mention(actorId)} no longer has permission.`,
  unknown_server: ({ extent = 'whole' }) =>
    extent === 'whole'
      ? ': the server no longer exists.'
      : ': it isn’t in the list of servers, which may be incomplete.',
  label_differs: () => ': the server’s label has changed since the form was opened.',
  server_protected: () => ': an owner has protected it.',
  already_renewed: () => ': the server has been renewed since the request.',
  stale_confirmation: () => ': the request wasn’t sent in time.',
  account_changed: () => ': the hosting account was reconnected after the request.',
  defect: () => ': something went wrong.',
};
