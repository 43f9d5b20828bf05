import type { AccessRequest } from '../../domain/access-request.ts';
import { Refusal } from '../../domain/errors.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { DAY_MS } from '../../domain/time.ts';
import { defineUseCase } from '../authorize/use-case.ts';

/** After this time the requester may have done it long ago, or another user has. */
const CONTINUE_MS = DAY_MS;

/**
 * Finds the command for which a user requested a role, once the role was granted. It only finds it: running it goes through
 * the permission check like any other command.
 * @throws Refusal `continuation_over` when the role was not granted, has ended, or was granted too long ago
 */
export const findGrantedCommand = defineUseCase({
  name: 'access_continue',
  needs: 'anyone',
  effect: 'reads',
  run: async ({ id }: { id: ConfirmationId }, { actor, app }): Promise<string> => {
    const request = await app.accessRequests.find(id);
    const isOwn = request?.workspaceId === actor.workspaceId && request.requesterId === actor.userId;
    const command = isOwn ? request.command : undefined;
    if (command !== undefined && request && isCurrent(request, app.system.now())) return command;
    throw new Refusal('continuation_over', { command });
  },
});

function isCurrent({ state, decidedAt = 0, until }: AccessRequest, now: number): boolean {
  return state === 'approved' && now < decidedAt + CONTINUE_MS && (until === undefined || now < until);
}
