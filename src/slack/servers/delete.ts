import { z } from 'zod';
import type { RequestedApproval } from '../../app/approvals/request-approval.ts';
import { deleteServer, prepareDelete } from '../../app/servers/delete-server.ts';
import { requestDelete } from '../../app/servers/request-delete.ts';
import { isIdenticalLabel } from '../../domain/label.ts';
import { requestedBeforeWords, waitingWords } from '../approvals/waiting-words.ts';
import { actions, textMessage } from '../kit/blocks.ts';
import { defineCommand, parseServerName } from '../kit/command.ts';
import { defineForm, loadingView, noticeView } from '../kit/form.ts';
import { codeLabel } from '../kit/text.ts';
import type { SlackRequest } from '../transport/request.ts';
import { deleteButton, showButton } from './buttons.ts';
import { DELETE_TITLE, deleteDialog, deleteView } from './delete-dialog.ts';
import { chooseUnnamed } from './pick-server.ts';

const ref = z.union([
  z.object({ typed: z.string() }),
  z.object({ id: z.number().int(), on: z.literal('card').exactOptional() }),
]);

const form = defineForm({
  id: 'delete',
  title: DELETE_TITLE,
  input: ref,
  needs: prepareDelete,
  pick: (id) => ({ id }),
  choose: (input, request) => chooseUnnamed('delete', input, request),
  load: async (input, request, origin) => {
    const review = await request.execute(prepareDelete, { ref: input });
    return deleteView(review, origin, request.now(), 'id' in input ? input.on : undefined);
  },
});

export const remove = defineCommand({
  name: 'delete',
  usage: 'delete [server]',
  summary: 'Delete a server (no refund)',
  needs: 'manager',
  parse: parseServerName,
  run: (input, request) => form.open(input, request),
  actions: [form.handler, deleteButton.on((input, request) => form.open(input, request))],
  suggestions: [form.pickSuggestions],
  modals: [
    form.pickHandler,
    deleteDialog.onSubmit(deleteServer, async ({ fields, metadata, origin, viewId }, request) => {
      // Compared here, too, to show a typing error beside the field; the use case has the last word.
      if (!isIdenticalLabel(fields.label, metadata.word)) {
        const words = `That doesn’t match. Type ${metadata.word}`;
        return { with: { errors: { label: words } } };
      }
      const deletion = { id: metadata.serverId, typedLabel: fields.label, formId: origin.formId };
      return {
        with: loadingView(DELETE_TITLE, `Checking ${codeLabel(metadata.label)}…`),
        after: async () => {
          request.views.follow(origin.formId, viewId);
          const requested = await request.execute(requestDelete, { ...deletion, approvalId: origin.formId });
          if (requested) await showRequested(requested, origin.formId, viewId, request);
          else await runDelete({ ...deletion, isOnCard: metadata.on === 'card' }, viewId, request);
        },
      };
    }),
  ],
});

/** Another manager has to approve it first. */
async function showRequested(
  { isNew, approval }: RequestedApproval,
  formId: string,
  viewId: string,
  request: SlackRequest,
): Promise<void> {
  const words = isNew ? waitingWords(approval, request) : requestedBeforeWords(approval, formId, request);
  await request.views.update(viewId, noticeView(DELETE_TITLE, ...words));
}

async function runDelete(
  { isOnCard, ...deletion }: { id: number; typedLabel: string; formId: string; isOnCard: boolean },
  viewId: string,
  request: SlackRequest,
): Promise<void> {
  const { id } = deletion;
  const { server, isGone, actId } = await request.execute(deleteServer, deletion);
  const label = codeLabel(server.label);
  if (isGone) {
    const words = `${label} was deleted.`;
    await request.views.update(viewId, noticeView(DELETE_TITLE, words));
    const announced = await request.announce(`deleted ${label}`);
    const isShown = isOnCard && (await request.reply.edit(textMessage(words)));
    if (!announced && !isShown) await request.reply.send(textMessage(words));
    if (actId !== undefined) await request.placeAct(actId, announced);
    return;
  }
  const words =
    isGone === undefined
      ? `We’re not sure whether ${label} was deleted: the hosting API didn’t confirm it.`
      : `We’re not sure whether ${label} was deleted: the hosting API didn’t confirm it, and the server is still listed.`;
  await request.views.update(viewId, noticeView(DELETE_TITLE, words));
  await request.reply.send(textMessage(words, actions(showButton.element('Show server', { id }))));
}
