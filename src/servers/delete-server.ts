import { getWorkspace } from '../account/workspaces.ts';
import { defineUseCase, type UseCaseContext } from '../core/entry.ts';
import { Refusal } from '../core/errors.ts';
import type { ConfirmationId, ServerId } from '../core/ids.ts';
import { deletionWord, isIdenticalLabel } from '../core/labels.ts';
import type { Server } from '../core/server.ts';
import { type RequestedApproval, requestApproval } from '../requests/approval.ts';
import { notifyRequest } from '../requests/notify.ts';
import { runDelete, type ShowDeleted } from './deletion.ts';
import { getServer, type ServerRef } from './find.ts';
import { refuseProtected } from './protect.ts';

/** Reads what the delete form shows. @throws Refusal `server_protected`, and as `getServer` does; HostingError */
export const prepareDelete = defineUseCase({
  name: 'delete',
  needs: 'manager',
  effect: 'reads',
  run: async (input: { ref: ServerRef }, context): Promise<DeleteReview> => {
    const server = await getServer(input.ref, context);
    await refuseProtected('delete', server, context.actor.workspaceId, context.app);
    return { server, takesApproval: (await getWorkspace(context)).settings.approval.delete };
  },
});

/** What the delete form shows. */
export interface DeleteReview {
  readonly server: Server;
  /** Another manager has to approve the delete. */
  readonly takesApproval: boolean;
}

/** A server, and the label that was typed to confirm its deletion. */
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
 * Carries out what its user has just confirmed, and shows them the result. Does nothing if another process is at it.
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
function refuseOtherLabel(typedLabel: string, server: Pick<Server, 'id' | 'label'>): void {
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
