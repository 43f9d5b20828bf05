import type { Services } from '../services.ts';

/**
 * Tells the actor how an operation stands, and hands over the root password if one waits.
 * What could not be delivered stays owed: the background tries again, also after a restart (DESIGN 5).
 */
export async function tellOperation(id: string, services: Services): Promise<void> {
  const { ledger, passwords } = services.store;
  const operation = await ledger.find(id);
  if (!operation || operation.toldAt !== undefined || operation.state === 'prepared') return;
  // A lost encryption key must not keep the outcome itself from being told.
  const held = await passwords.find(id).catch(() => undefined);
  const { isTold, isPasswordShown } = await services.teller.tellOperation(operation, held);
  if (!isTold) return;
  const at = services.system.now();
  if (isPasswordShown) await passwords.markDelivered(id, at, services.settings.passwordHoldMs);
  await ledger.markTold(operation, at);
}
