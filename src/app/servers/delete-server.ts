import { Refusal } from '../../domain/errors.ts';
import type { ConfirmationId, ServerId } from '../../domain/ids.ts';
import { deletionWord, isIdenticalLabel } from '../../domain/label.ts';
import type { Server } from '../../domain/server.ts';
import { getWorkspace } from '../account/change-settings.ts';
import { defineUseCase, type UseCaseContext } from '../authorize/use-case.ts';
import { getServer, type ServerRef } from './find-server.ts';
import { findKeyGeneration } from './key-generation.ts';
import { nameFailure } from './name-failure.ts';
import { refuseProtected } from './refuse-protected.ts';
import { sendDelete } from './send-delete.ts';
import { PLACE_WITHIN_MS, startFollowing } from './start-following.ts';

/** Reads what the delete dialog shows. */
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

export interface DeleteReview {
  readonly server: Server;
  /** Another manager has to approve the delete. */
  readonly takesApproval: boolean;
}

/** Which server, and what was typed to confirm it. */
export interface DeleteInput {
  readonly id: ServerId;
  readonly typedLabel: string;
}

export interface Deletion {
  readonly server: Server;
  /**
   * True only with proof. Otherwise it is unconfirmed: false if a list right after still had the server, undefined if no
   * list could tell.
   */
  readonly isGone: boolean | undefined;
  /** The followed act, where the deletion is proven. */
  readonly actId?: string;
}

/**
 * Deletes the server whose label was typed, once for each form.
 * Money effect: the rest of the paid month is lost (docs/hosting-api.md 3).
 * @throws Refusal `label_differs`, `unknown_server`, `role_needed`, `approval_needed`, `already_handled`
 */
export const deleteServer = defineUseCase({
  name: 'delete',
  needs: 'manager',
  effect: 'changes',
  isOncePerForm: true,
  subject: ({ id, typedLabel }) => ({ serverId: id, label: typedLabel }),
  run: async (input: DeleteInput & { readonly formId: string }, context): Promise<Deletion> => {
    const server = await getServerToDelete(input, context);
    if ((await getWorkspace(context)).settings.approval.delete) throw new Refusal('approval_needed', {});
    const keyGeneration = await findKeyGeneration(context);
    const hosting = await context.hosting();
    const { seenRequests, system } = context.app;
    if (!(await seenRequests.addFirst(`delete:${input.formId}`, system.now())))
      throw new Refusal('already_handled', {});
    const outcome = await sendDelete(server.id, hosting).catch((error: unknown) => {
      throw nameFailure(error, { act: 'delete', label: server.label, serverId: server.id });
    });
    if (outcome.kind === 'gone') {
      const actId = await followDelete(input.formId, server, keyGeneration, context);
      return { server, isGone: true, actId };
    }
    context.setUnconfirmed(outcome.code);
    return { server, isGone: outcome.isListed === undefined ? undefined : false };
  },
});

/** Until a complete list no longer has it. Undefined where that can't be stored. */
async function followDelete(
  id: ConfirmationId,
  { id: serverId, label }: Server,
  keyGeneration: number,
  { actor, app }: Pick<UseCaseContext, 'actor' | 'app'>,
): Promise<string | undefined> {
  const { workspaceId, userId: actorId, channelId } = actor;
  const action = 'delete' as const;
  const act = { id, workspaceId, action, actorId, keyGeneration, channelId };
  const server = { serverId, label, standing: 'waiting', hasChanged: false } as const;
  return (await startFollowing(act, server, app, PLACE_WITHIN_MS)) ? id : undefined;
}

/** The server, if what was typed is its label. @throws Refusal `label_differs`, `unknown_server`, `role_needed` */
export async function getServerToDelete(
  { id, typedLabel }: DeleteInput,
  context: Parameters<typeof getServer>[1] & Pick<UseCaseContext, 'actor' | 'app'>,
): Promise<Server> {
  const server = await getServer({ id }, context, { freshness: 'fresh' });
  const wanted = deletionWord(server);
  if (!isIdenticalLabel(typedLabel.trim(), wanted))
    throw new Refusal('label_differs', { typed: typedLabel, label: wanted });
  await refuseProtected('delete', server, context.actor.workspaceId, context.app);
  return server;
}
