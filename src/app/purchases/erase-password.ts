import { Refusal } from '../../domain/errors.ts';
import { labelOf } from '../../domain/operation.ts';
import { useCasesOver } from '../authorize/use-case.ts';
import type { AppPorts } from '../ports.ts';

const defineUseCase = useCasesOver<AppPorts>();

/**
 * The creator has saved the password: its sealed copy is erased.
 * @throws Refusal `not_creator`
 */
export const erasePassword = defineUseCase({
  name: 'password_saved',
  needs: 'anyone',
  effect: 'changes',
  run: async (input: { operationId: string }, context): Promise<void> => {
    const { ledger, passwords } = context.ports;
    const operation = await ledger.find(input.operationId);
    if (operation?.workspaceId !== context.actor.workspaceId) throw new Refusal('no_password', { label: '' });
    const label = labelOf(operation.purchase);
    context.setSubject({
      operationId: operation.id,
      label,
      ...(operation.serverId === undefined ? {} : { serverId: operation.serverId }),
    });
    if (operation.actorId !== context.actor.userId) throw new Refusal('not_creator', { label });
    await passwords.erase(operation.id);
  },
});
