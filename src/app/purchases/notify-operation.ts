import type { Services } from '../services.ts';

/**
 * Tells the actor how an operation stands, and hands over the root password if one waits.
 * What could not be delivered stays owed: the background tries again, also after a restart (DESIGN 5).
 */
export async function notifyOperation(id: string, services: Services): Promise<void> {
  const { ledger, passwords } = services.store;
  const operation = await ledger.find(id);
  if (!operation || operation.notifiedAt !== undefined || operation.state === 'prepared') return;
  // A lost encryption key must not keep the outcome itself from being told.
  const held = await passwords.find(id).catch(() => undefined);
  const { isNotified, isPasswordShown } = await services.notifier.notifyOperation(operation, held);
  if (!isNotified) return;
  const at = services.system.now();
  if (isPasswordShown) await passwords.markDelivered(id, at, services.settings.passwordHoldMs);
  await ledger.markNotified(operation, at);
}
