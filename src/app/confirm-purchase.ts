import { Refusal } from '../domain/errors.ts';
import type { Money } from '../domain/money.ts';
import { labelOf, type Operation, type Purchase } from '../domain/operation.ts';
import { defineUseCase } from './use-case.ts';

export interface Confirmation {
  /** Made when the form was opened: two presses of one form carry the same one. */
  readonly operationId: string;
  readonly purchase: Purchase;
  /** What the review showed; absent where no price is known. */
  readonly price?: Money;
}

/**
 * Writes the confirmation durably. Called before the ack, and nothing else is written then.
 * Money effect: none yet; `runOperation` sends it. A second confirmation of the same form, or of the same
 * month of the same server, gets the first one's operation and `isNew: false`.
 */
export const confirmPurchase = defineUseCase({
  name: 'confirm',
  needs: 'manager',
  effect: 'confirms',
  run: async (input: Confirmation, scene): Promise<{ isNew: boolean; operation: Operation }> => {
    const { actor, services } = scene;
    scene.about({ operationId: input.operationId, label: labelOf(input.purchase) });
    const prepared = await services.store.ledger.prepare({
      id: input.operationId,
      workspaceId: actor.workspaceId,
      actorId: actor.userId,
      ...(actor.channelId === undefined ? {} : { channelId: actor.channelId }),
      purchase: input.purchase,
      ...(input.price === undefined ? {} : { price: input.price }),
      at: services.system.now(),
    });
    if (prepared.operation.workspaceId !== actor.workspaceId) throw new Refusal('other_workspace', {});
    return prepared;
  },
});
