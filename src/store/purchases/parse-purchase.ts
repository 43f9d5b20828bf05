import { z } from 'zod';
import type { ServerId } from '../../domain/ids.ts';
import type { Purchase } from '../../domain/operation.ts';
import { parseKnown } from '../newer-version.ts';

/*
 * Strict: a field that a newer version has added may change what is bought, and an order must not be sent without it.
 */
const order = z.strictObject({
  plan: z.string(),
  location: z.string(),
  image: z.string(),
  label: z.string(),
});

/** What was confirmed, as it is stored. */
export const storedPurchase = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('create'), order, namesakeIds: z.array(z.number()).exactOptional() }),
  z.strictObject({
    kind: z.literal('renew'),
    serverId: z.number(),
    label: z.string(),
    paidUntil: z.number(),
  }),
]) satisfies z.ZodType<Purchase>;

const KINDS: Readonly<Record<Purchase['kind'], true>> = { create: true, renew: true };
/** Every kind that this version knows. */
export const PURCHASE_KINDS = Object.keys(KINDS) as readonly Purchase['kind'][];

const ids = z.array(z.number());

/** @throws Refusal `newer_version` when it is not what `toRow` has written: money must not depend on a guess */
export function parsePurchase(json: string): Purchase {
  return parseKnown(storedPurchase, JSON.parse(json));
}

/** @throws Refusal `newer_version` */
export function parseIds(json: string): readonly ServerId[] {
  return parseKnown(ids, JSON.parse(json));
}
