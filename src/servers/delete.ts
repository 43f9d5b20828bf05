import type { ModalView } from '@slack/types';
import { z } from 'zod';
import { defineUseCase } from '../core/entry.ts';
import { Refusal } from '../core/errors.ts';
import type { ConfirmationId, ServerId } from '../core/ids.ts';
import { deletionWord, isIdenticalLabel } from '../core/labels.ts';
import { countPaidDays } from '../core/time.ts';
import { type RequestedApproval, requestApproval } from '../requests/approval.ts';
import { requestedView } from '../requests/approval-card.ts';
import { notifyRequest } from '../requests/notify.ts';
import { context, facts, section, textMessage } from '../slack/kit/blocks.ts';
import { defineCommand, parseServerName } from '../slack/kit/command.ts';
import { defineForm, loadingView, type Origin } from '../slack/kit/form.ts';
import { defineModal } from '../slack/kit/modal.ts';
import { codeLabel, count, escapeText, shorten, stateWords } from '../slack/kit/text.ts';
import { deleteButton, pressedServer } from './buttons.ts';
import { DELETE_TITLE, deleteMessage, deleteNotice } from './delete-outcome.ts';
import { runDelete } from './deletion.ts';
import { chooseUnnamed, getServer, type ServerRef } from './find.ts';
import { refuseProtected } from './notes.ts';
import { describePaidUntil } from './words.ts';

/** Reads what the delete form shows. @throws Refusal `server_protected`, and as `getServer` does; HostingError */
const readDeleteReview = defineUseCase({
  name: 'delete',
  needs: 'manager',
  effect: 'reads',
  run: async (input: { ref: ServerRef }, context) => {
    const server = await getServer(input.ref, context);
    const { workspaceId } = context.actor;
    await refuseProtected('delete', server, workspaceId, context.app);
    const { approval } = await context.app.workspaces.readSettings(workspaceId);
    return { server, takesApproval: approval.delete };
  },
});
type DeleteReview = Awaited<ReturnType<typeof readDeleteReview.run>>;

interface DeleteInput {
  /** Made when the form was opened: two presses of one form carry the same one. */
  readonly formId: ConfirmationId;
  readonly id: ServerId;
  readonly label: string;
  readonly paidUntil?: number | undefined;
  readonly typedLabel: string;
}

/**
 * Writes the confirmation of a delete durably, or requests another manager's approval of it instead. Called before the ack, and
 * nothing else is written then. Returns the request, if there is one.
 * Money effect: none yet; `carryOutDelete`, or the background, sends it once.
 * @throws Refusal `role_needed`, `label_differs`, `server_protected`, `restored`; `already_handled` for a second press
 */
export const confirmDelete = defineUseCase({
  name: 'delete',
  needs: 'manager',
  effect: 'confirms',
  subject: ({ id, label }) => ({ serverId: id, label }),
  run: async (
    { formId, id, label, paidUntil, typedLabel }: DeleteInput,
    context,
  ): Promise<RequestedApproval | undefined> => {
    const { actor, app } = context;
    const { workspaceId, userId: actorId, channelId } = actor;
    await context.requireRoleFor(label);
    const wanted = deletionWord({ id, label });
    if (!isIdenticalLabel(typedLabel.trim(), wanted))
      throw new Refusal('label_differs', { typed: typedLabel, label: wanted });
    await refuseProtected('delete', { id, label }, workspaceId, app);
    if (await app.ledger.findDelete(formId)) throw new Refusal('already_handled', {});
    const deletion = { kind: 'delete', serverId: id, label } as const;
    const { approval } = await app.workspaces.readSettings(workspaceId);
    // An approval that was requested in this form stays needed, even if the two-person rule has been turned off since.
    if (approval.delete || (await app.requests.find(formId, ['delete'])))
      return requestApproval({ id: formId, ...deletion, paidUntil, isOverBudget: false }, context);
    const confirmed = { id: formId, workspaceId, actorId, channelId, deletion, at: app.system.now() };
    if (!(await app.ledger.confirmDelete(confirmed))) throw new Refusal('already_handled', {});
    return undefined;
  },
  follow: async (requested, { app }) => {
    if (requested?.isNew) await notifyRequest(requested.approval.id, app);
  },
});

/**
 * Carries out what its user has just confirmed, and reports the outcome, unless another process is doing that. Returns what has
 * become of it, or an error after which its job may still carry it out; that isn't thrown, since the audit has the delete's own entries.
 * Money effect: sends at most one DELETE for each confirmation; the rest of the paid month is lost (docs/hosting-api.md 3.4).
 */
export const carryOutDelete = defineUseCase({
  name: 'delete',
  needs: 'anyone',
  effect: 'confirms',
  run: async ({ formId }: { readonly formId: ConfirmationId }, { actor, app }) => {
    const operation = await app.ledger.findDelete(formId);
    if (operation?.workspaceId !== actor.workspaceId || operation.actorId !== actor.userId) return {};
    try {
      await runDelete(formId, app, { isAwaited: true });
      return { operation: await app.ledger.findDelete(formId) };
    } catch (error) {
      return { error };
    }
  },
});

const TYPE_IT = 'Type the label';

/** The form in which the server's label has to be typed, so that none is deleted by accident. */
const deleteDialog = defineModal(
  'delete',
  z.object({
    serverId: z.number().int(),
    label: z.string(),
    paidUntil: z.number().exactOptional(),
    on: z.literal('card').exactOptional(),
  }),
  z.object({ label: z.string(TYPE_IT).trim().min(1, TYPE_IT) }),
);

/** Renders the delete form, with what will be lost. `on`: it was opened from the server's card, which then shows the outcome. */
export function deleteView(
  { server, takesApproval }: DeleteReview,
  origin: Origin,
  now: number,
  on?: 'card',
): ModalView {
  const days = server.paidUntil === undefined ? undefined : countPaidDays(server.paidUntil, now);
  const lost = days === undefined ? 'the rest of the paid month' : count(days, 'paid day');
  return deleteDialog.view({
    origin,
    metadata: { serverId: server.id, label: server.label, paidUntil: server.paidUntil, on },
    title: DELETE_TITLE,
    submit: takesApproval ? 'Request approval' : 'Delete',
    blocks: [
      section(`:warning: *You’ll lose ${lost} (no refund) and all data on ${codeLabel(server.label)}.*`),
      facts([
        ['State', stateWords(server)],
        ['Paid until', describePaidUntil(server, now)],
        ['IPv4', escapeText(server.ipv4 ?? 'none yet')],
        ['ID', String(server.id)],
      ]),
      ...(takesApproval
        ? [context('Another manager must approve this first. Nothing is deleted until then.')]
        : []),
      deleteDialog.textField('label', {
        label: `To confirm, type ${shorten(deletionWord(server), 150)}`,
      }),
    ],
  });
}

const form = defineForm({
  id: 'delete',
  title: DELETE_TITLE,
  input: z.union([z.object({ typed: z.string() }), pressedServer]),
  needs: readDeleteReview,
  pick: (id) => ({ id }),
  choose: (input, request) => chooseUnnamed('delete', input, request),
  load: async (input, request, origin) => {
    const review = await request.execute(readDeleteReview, { ref: input });
    return deleteView(review, origin, request.now(), 'id' in input ? input.on : undefined);
  },
});

export const remove = defineCommand({
  name: 'delete',
  usage: 'delete [server]',
  example: 'delete web-1',
  summary: 'Delete a server (no refund)',
  needs: 'manager',
  parse: parseServerName,
  run: (input, request) => form.open(input, request),
  actions: [form.handler, deleteButton.on((input, request) => form.open(input, request))],
  suggestions: [form.pickSuggestions],
  modals: [
    form.pickHandler,
    deleteDialog.onSubmit(confirmDelete, async ({ fields, metadata, origin, viewId }, request) => {
      const { serverId: id, label, paidUntil, on } = metadata;
      const word = deletionWord({ id, label });
      // Also compared here, to show a typing error beside the field. The use case decides.
      if (!isIdenticalLabel(fields.label, word))
        return { with: { errors: { label: `That doesn’t match. Type ${word}.` } } };
      const { formId } = origin;
      const deletion = { formId, id, label, paidUntil, typedLabel: fields.label };
      const requested = await request.execute(confirmDelete, deletion);
      if (requested) return { with: requestedView(requested, formId, request.caller.actor.userId) };
      return {
        with: loadingView(DELETE_TITLE, `Checking ${codeLabel(label)}…`),
        after: async () => {
          // Slack may take its time with the other messages, and its job goes on with what has not ended.
          request.views.follow(formId, viewId);
          const { operation, error } = await request.execute(carryOutDelete, { formId });
          if (error !== undefined) throw error;
          if (!operation) return;
          await request.views.update(
            viewId,
            deleteNotice(operation, deleteMessage(operation, request.currency)),
          );
          if (operation.state === 'settled' && on === 'card')
            await request.reply.edit(textMessage(`${codeLabel(label)} was deleted.`));
        },
      };
    }),
  ],
});
