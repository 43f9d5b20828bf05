import type { ModalView } from '@slack/types';
import { z } from 'zod';
import { getWorkspace } from '../account/workspaces.ts';
import { defineUseCase, type UseCaseContext } from '../core/entry.ts';
import { isRefusal, Refusal } from '../core/errors.ts';
import type { ConfirmationId, ServerId } from '../core/ids.ts';
import { deletionWord, freezeLabel, isIdenticalLabel } from '../core/labels.ts';
import type { NamedServer, Server } from '../core/server.ts';
import { countPaidDays } from '../core/time.ts';
import { type RequestedApproval, requestApproval } from '../requests/approval.ts';
import { requestedView } from '../requests/approval-card.ts';
import { notifyRequest } from '../requests/notify.ts';
import { actions, context, facts, section, textMessage } from '../slack/kit/blocks.ts';
import { defineCommand, parseServerName } from '../slack/kit/command.ts';
import { defineForm, loadingView, noticeView, type Origin } from '../slack/kit/form.ts';
import { defineModal } from '../slack/kit/modal.ts';
import { codeLabel, count, escapeText, shorten, stateWords } from '../slack/kit/text.ts';
import { showLateError } from '../slack/reply.ts';
import type { SlackRequest } from '../slack/request.ts';
import { deleteButton, showButton } from './buttons.ts';
import { DELETE_TITLE, DELETE_TITLES } from './delete-outcome.ts';
import { type DeleteResult, runDelete, type ShowDeleted } from './deletion.ts';
import { chooseUnnamed, getServer, type ServerRef } from './find.ts';
import { refuseProtected } from './notes.ts';
import { describePaidUntil } from './words.ts';

/** Reads what the delete form shows. @throws Refusal `server_protected`, and as `getServer` does; HostingError */
const readDeleteReview = defineUseCase({
  name: 'delete',
  needs: 'manager',
  effect: 'reads',
  run: async (input: { ref: ServerRef }, context): Promise<DeleteReview> => {
    const server = await getServer(input.ref, context);
    await refuseProtected('delete', server, context.actor.workspaceId, context.app);
    return { server, takesApproval: (await getWorkspace(context)).settings.approval.delete };
  },
});

interface DeleteReview {
  readonly server: Server;
  readonly takesApproval: boolean;
}

interface DeleteInput {
  /** Made when the form was opened: two presses of one form carry the same one. */
  readonly formId: ConfirmationId;
  readonly id: ServerId;
  readonly typedLabel: string;
}

/**
 * Writes the confirmation of a delete durably. Called before the ack, and nothing else is written then. False where another manager
 * has to approve it: then `requestDelete` requests that.
 * Money effect: none yet; `carryOutDelete`, or the background, sends it once.
 * @throws Refusal `role_needed`, `label_differs`, `server_protected`, `restored`; `already_handled` for a second press
 */
export const confirmDelete = defineUseCase({
  name: 'delete',
  needs: 'manager',
  effect: 'confirms',
  isOncePerForm: true,
  subject: ({ id, label }) => ({ serverId: id, label }),
  run: async (
    { formId, id, label, typedLabel }: DeleteInput & { readonly label: string },
    context,
  ): Promise<boolean> => {
    const { actor, app } = context;
    const { workspaceId, userId: actorId, channelId } = actor;
    await context.requireRoleFor(label);
    refuseOtherLabel(typedLabel, { id, label });
    await refuseProtected('delete', { id, label }, workspaceId, app);
    if ((await getWorkspace(context)).settings.approval.delete) return false;
    // An approval that was requested in this form stays needed, even if the two-person rule has been turned off since.
    if (await app.requests.find(formId, ['delete'])) return false;
    const deletion = { kind: 'delete', serverId: id, label } as const;
    const confirmed = { id: formId, workspaceId, actorId, channelId, deletion, at: app.system.now() };
    if (await app.ledger.confirmDelete(confirmed)) return true;
    throw new Refusal('already_handled', {});
  },
});

/**
 * Carries out what its user has just confirmed, and shows them the result. Does nothing if another process is doing that.
 * Money effect: sends at most one DELETE for each confirmation; the rest of the paid month is lost (docs/hosting-api.md 3.4).
 */
export const carryOutDelete = defineUseCase({
  name: 'delete',
  needs: 'anyone',
  effect: 'confirms',
  isOncePerForm: true,
  run: async (
    { formId, show }: { readonly formId: ConfirmationId; readonly show: ShowDeleted },
    { actor, app },
  ): Promise<void> => {
    const operation = await app.ledger.findDelete(formId);
    const isOwn = operation?.workspaceId === actor.workspaceId && operation.actorId === actor.userId;
    // Not thrown: the audit has the delete's own entries, and its job may still carry it out.
    if (isOwn) await runDelete(formId, app, show).catch((error: unknown) => show({ kind: 'failed', error }));
  },
});

/** @throws Refusal `label_differs` unless what has to be typed for this server was typed */
function refuseOtherLabel(typedLabel: string, server: NamedServer): void {
  const wanted = deletionWord(server);
  if (!isIdenticalLabel(typedLabel.trim(), wanted))
    throw new Refusal('label_differs', { typed: typedLabel, label: wanted });
}

/**
 * Requests a second person's approval of a delete. Deletes nothing.
 * @throws Refusal `label_differs`, `unknown_server`, `role_needed`, `server_protected`; `already_handled` if the same form was
 * confirmed before the two-person rule was turned on; and as `requestApproval` does
 */
export const requestDelete = defineUseCase({
  name: 'delete',
  needs: 'manager',
  effect: 'confirms',
  run: async (
    { formId, id, typedLabel }: DeleteInput,
    context: UseCaseContext,
  ): Promise<RequestedApproval> => {
    const { actor, app } = context;
    const server = await getServer({ id }, context, { freshness: 'fresh' });
    refuseOtherLabel(typedLabel, server);
    await refuseProtected('delete', server, actor.workspaceId, app);
    if (await app.ledger.findDelete(formId)) throw new Refusal('already_handled', {});
    const { label, paidUntil } = server;
    const action = { kind: 'delete', serverId: id, label, paidUntil } as const;
    return requestApproval({ id: formId, ...action, isOverBudget: false }, context);
  },
  follow: async (requested, { app }) => {
    if (requested.isNew) await notifyRequest(requested.approval.id, app);
  },
});

const TYPE_IT = 'Type the label';

/** The form in which the server's label has to be typed, so that none is deleted by accident. */
const deleteDialog = defineModal(
  'delete',
  z.object({
    serverId: z.number().int(),
    label: z.string(),
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
    metadata: { serverId: server.id, label: freezeLabel(server.label), on },
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

const ref = z.union([
  z.object({ typed: z.string() }),
  z.object({ id: z.number().int(), on: z.literal('card').exactOptional() }),
]);

const form = defineForm({
  id: 'delete',
  title: DELETE_TITLE,
  input: ref,
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
      const { serverId: id, label, on } = metadata;
      const word = deletionWord({ id, label });
      // Also compared here, to show a typing error beside the field. The use case decides.
      if (!isIdenticalLabel(fields.label, word))
        return { with: { errors: { label: `That doesn’t match. Type ${word}.` } } };
      const { formId } = origin;
      const deletion = { formId, id, typedLabel: fields.label };
      // Before it is confirmed: if this process dies, another one carries it out, and reports the outcome.
      request.views.follow(formId, viewId);
      const isConfirmed = await request.execute(confirmDelete, { ...deletion, label });
      const show = (result: DeleteResult) =>
        showResult(result, { id, label, isOnCard: on === 'card' }, viewId, request);
      return {
        with: loadingView(DELETE_TITLE, `Checking ${codeLabel(label)}…`),
        after: async () => {
          if (isConfirmed) return request.execute(carryOutDelete, { formId, show });
          const requested = await request.execute(requestDelete, deletion);
          const { userId } = request.caller.actor;
          await request.views.update(viewId, requestedView(requested, formId, userId));
        },
      };
    }),
  ],
});

/** Shows the result in the form, and announces a delete that is proven. */
async function showResult(
  result: DeleteResult,
  { id, label: name, isOnCard }: { readonly id: number; readonly label: string; readonly isOnCard: boolean },
  viewId: string,
  request: SlackRequest,
): Promise<void> {
  const label = codeLabel(name);
  if (result.kind === 'failed') {
    if (!isRefusal(result.error, 'stale_confirmation'))
      return showLateError(result.error, viewId, request, []);
    const words = `${label} wasn’t deleted: the request wasn’t sent in time. Try again.`;
    const { ok } = await request.views.update(viewId, noticeView('That didn’t work', words));
    if (!ok) await request.reply.send(textMessage(words));
    return;
  }
  if (result.kind === 'gone') {
    const words = `${label} was deleted.`;
    await request.views.update(viewId, noticeView(DELETE_TITLES.settled, words));
    const announced = await request.announce(`deleted ${label}`);
    const isShown = isOnCard && (await request.reply.edit(textMessage(words)));
    if (!announced && !isShown) await request.reply.send(textMessage(words));
    if (result.actId !== undefined) await request.placeAct(result.actId, announced);
    return;
  }
  const words = result.isListed
    ? `We’re not sure whether ${label} was deleted: the hosting API didn’t confirm it, and the server is still listed.`
    : `We’re not sure whether ${label} was deleted: the hosting API didn’t confirm it.`;
  await request.views.update(viewId, noticeView(DELETE_TITLES.unconfirmed, words));
  await request.reply.send(textMessage(words, actions(showButton.element('Show server', { id }))));
}
