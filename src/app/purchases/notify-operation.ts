import type { AppPorts } from '../ports.ts';

/**
 * Tells the actor how an operation stands, and hands over the root password if one waits.
 * What could not be delivered stays owed: the background tries again, also after a restart (docs/design.md 5).
 */
export async function notifyOperation(id: string, ports: AppPorts): Promise<void> {
  const { ledger, passwords } = ports;
  const operation = await ledger.find(id);
  if (!operation || operation.notifiedAt !== undefined || operation.state === 'prepared') return;
  // A lost encryption key must not keep the outcome itself from being told.
  const held = await passwords.find(id).catch(() => undefined);
  const { isNotified, isPasswordShown } = await ports.operationNotifier.notify(operation, held);
  if (!isNotified) return;
  const at = ports.system.now();
  if (isPasswordShown) await passwords.markDelivered(id, at, ports.settings.passwordHoldMs);
  await ledger.markNotified(operation, at);
}
