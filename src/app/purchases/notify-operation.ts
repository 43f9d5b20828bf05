import type { ConfirmationId } from '../../domain/ids.ts';
import type { NotifyPorts } from './ports.ts';

/**
 * Notifies the actor of how an operation stands, and hands over the root password if one is held.
 * What could not be delivered is tried again by the background, also after a restart (docs/design.md 5).
 */
export async function notifyOperation(id: ConfirmationId, ports: NotifyPorts): Promise<void> {
  const { ledger, passwords } = ports;
  const operation = await ledger.find(id);
  if (!operation || operation.notifiedAt !== undefined || operation.state === 'prepared') return;
  // A lost encryption key must not keep the actor from learning the outcome itself.
  const held = await passwords.find(id).catch(() => undefined);
  const { isNotified } = await ports.operationNotifier.notify(operation, held);
  // The password stays: an accepted ephemeral message doesn't prove that its creator has seen it (docs/design.md 5.3).
  if (isNotified) await ledger.markNotified(operation, ports.system.now());
}
