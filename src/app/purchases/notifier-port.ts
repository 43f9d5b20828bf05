import type { UserId } from '../../domain/ids.ts';
import type { Operation } from '../../domain/operation.ts';
import type { HeldPassword } from './ports.ts';

/** Notifies users of the outcome of what they confirmed. */
export interface OperationNotifier {
  /** Announces that it is being carried out; the outcome replaces that. Never throws, and the order doesn't wait for it. */
  announceStart(operation: Operation): void;
  /**
   * Reports the operation's state to the actor, with the root password if one is held. The password is shown ephemerally or
   * not at all; the rest may come as a direct message where no ephemeral message gets through. `reported` is the new
   * server's state, as the API has just reported it. Never throws.
   */
  notify(
    operation: Operation,
    password: HeldPassword | undefined,
    reported?: string,
  ): Promise<{ readonly isNotified: boolean }>;
  /** Tells the actor that the order has not been sent yet, since others come first. Never throws. */
  notifyQueued(operation: Operation): Promise<void>;
  /** Tells the actor that the store fails, so that the order may still go through or not. Never throws. */
  notifyUnsaved(operation: Operation): Promise<void>;
  /** Tells owners that the balance was too low for it. Never throws. */
  notifyLowBalance(operation: Operation, owners: readonly UserId[]): Promise<void>;
}
