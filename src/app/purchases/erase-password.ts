import { Refusal } from '../../domain/errors.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { labelOf } from '../../domain/operation.ts';
import { useCasesOver } from '../authorize/use-case.ts';
import type { Ledger, Passwords } from './ports.ts';

interface ErasePorts {
  readonly ledger: Pick<Ledger, 'find'>;
  readonly passwords: Pick<Passwords, 'erase'>;
}

const defineUseCase = useCasesOver<ErasePorts>();

/**
 * The creator has saved the password: its sealed copy is erased.
 * @throws Refusal `not_creator`
 */
export const erasePassword = defineUseCase({
  name: 'password_saved',
  needs: 'anyone',
  effect: 'changes',
  run: async (input: { operationId: ConfirmationId }, context): Promise<void> => {
    const { ledger, passwords } = context.ports;
    const operation = await ledger.find(input.operationId);
    if (operation?.workspaceId !== context.actor.workspaceId) throw new Refusal('no_password', { label: '' });
    const { id: operationId, serverId } = operation;
    const label = labelOf(operation.purchase);
    context.setSubject(omitUndefined({ operationId, label, serverId }));
    if (operation.actorId !== context.actor.userId) throw new Refusal('not_creator', { label });
    await passwords.erase(operationId);
  },
});
