import { z } from 'zod';
import type { ServerId } from '../../domain/ids.ts';
import type { Purchase } from '../../domain/operation.ts';

const order = z.object({ plan: z.string(), location: z.string(), image: z.string(), label: z.string() });

/** What was confirmed, as it is stored. */
const purchase = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('create'), order }),
  z.object({ kind: z.literal('renew'), serverId: z.number(), label: z.string(), paidUntil: z.number() }),
]) satisfies z.ZodType<Purchase>;

const ids = z.array(z.number());

/** @throws ZodError when it is not what `toRow` has written: money must not depend on a guess */
export function parsePurchase(json: string): Purchase {
  return purchase.parse(JSON.parse(json));
}

/** @throws ZodError */
export function parseIds(json: string): readonly ServerId[] {
  return ids.parse(JSON.parse(json));
}
