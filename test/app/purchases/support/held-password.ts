import { expect } from 'vitest';
import type { Store } from '../../../../src/context.ts';
import { Secret } from '../../../../src/core/secret.ts';
import { entry, newCreate, sentBy, T0 } from '../../../store/support.ts';

interface Held {
  readonly operationId: string;
  readonly password: string;
}

/** A settled create of T1 whose root password is held. */
export async function holdPassword(
  store: Store,
  { creatorId, label, serverId }: { creatorId: string; label: string; serverId: number },
): Promise<Held> {
  const operation = newCreate(label, { actorId: creatorId });
  const password = `canary-${operation.id}`;
  await store.ledger.prepare(operation);
  await store.ledger.lease(operation.id, { owner: 'sender', now: T0, until: T0 + 1 });
  const permit = await store.ledger.readPermit(operation.workspaceId, T0);
  expect(await store.ledger.markSent(operation.id, sentBy('sender', T0, { permit }))).toBe('sent');
  const settled = { at: T0, serverId, password: new Secret(password), isFirstHand: true };
  const audit = entry({ actorId: creatorId, operationId: operation.id, serverId, label });
  expect(await store.ledger.settle(operation.id, settled, audit)).toBe(true);
  return { operationId: operation.id, password };
}
