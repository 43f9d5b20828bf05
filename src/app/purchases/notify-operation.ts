import type { ConfirmationId } from '../../domain/ids.ts';
import type { AppContext } from '../ports.ts';
import { followPurchase } from './follow-purchase.ts';

/**
 * Notifies the actor of an operation's state, and delivers the root password if one is held. `reported` is a new
 * server's state, as the API has just reported it.
 * If delivery fails, the background retries it, even after a restart (docs/design.md 5).
 */
export async function notifyOperation(id: ConfirmationId, app: AppContext, reported?: string): Promise<void> {
  const { ledger, passwords } = app;
  const operation = await ledger.find(id);
  if (!operation || operation.notifiedAt !== undefined || operation.state === 'prepared') return;
  // A lost encryption key must not keep the actor from learning the outcome itself.
  const held = await passwords.find(id).catch(() => undefined);
  const { isNotified } = await app.operationNotifier.notify(operation, held, reported);
  // The password stays: an accepted ephemeral message doesn't prove that its creator has seen it (docs/design.md 5.3).
  if (isNotified) await followPurchase(operation, app);
  if (isNotified) await ledger.markNotified(operation, app.system.now());
}
