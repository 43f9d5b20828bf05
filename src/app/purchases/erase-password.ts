import { Refusal } from '../../domain/errors.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { labelOf, type Operation } from '../../domain/operation.ts';
import { getHostingOf } from '../account/confirmed-account.ts';
import { hasRole } from '../authorize/find-roles.ts';
import { defineUseCase, type UseCaseContext } from '../authorize/use-case.ts';
import { withTimeout } from '../with-timeout.ts';

/** Whose password was erased; with the address, if the API reports it in time and the actor may still see the server. */
export interface ErasedPassword {
  readonly label: string;
  readonly ipv4?: string;
}

/**
 * The creator has saved the password: its sealed copy is erased.
 * @throws Refusal `not_creator`
 */
export const erasePassword = defineUseCase({
  name: 'password_saved',
  needs: 'anyone',
  effect: 'changes',
  run: async (input: { operationId: ConfirmationId }, context): Promise<ErasedPassword> => {
    const { ledger, passwords, system } = context.app;
    const operation = await ledger.find(input.operationId);
    if (operation?.workspaceId !== context.actor.workspaceId) throw new Refusal('no_password', { label: '' });
    const { id: operationId, serverId } = operation;
    const label = labelOf(operation.purchase);
    context.setSubject({ operationId, label, serverId });
    if (operation.actorId !== context.actor.userId) throw new Refusal('not_creator', { label });
    await passwords.erase(operationId);
    const finding = findAddress(operation, label, context).catch(() => undefined);
    return { label, ipv4: await withTimeout(finding, system) };
  },
});

async function findAddress(
  operation: Operation,
  label: string,
  { actor, app }: UseCaseContext,
): Promise<string | undefined> {
  if (!(await hasRole(actor, 'viewer', label, app))) return undefined;
  const hosting = await getHostingOf(operation, app);
  const { servers } = await hosting.fetchServers();
  return servers.find(({ id }) => id === operation.serverId)?.ipv4;
}
