import { z } from 'zod';
import type { Snapshot } from '../../app/reminders/ports.ts';
import type { DigestContent } from '../../domain/digest.ts';
import { money } from '../../domain/money.ts';
import { SNOOZES } from '../../domain/reminder.ts';

const named = { serverId: z.number(), label: z.string() };

const content = z.object({
  due: z.array(
    z.object({
      ...named,
      paidUntil: z.number(),
      daysLeft: z.number(),
      urgency: z.enum(['high', 'medium', 'low']),
      snoozes: z.array(z.object({ kind: z.enum(SNOOZES), untilDay: z.string() })),
      price: z.number().int().transform(money).exactOptional(),
    }),
  ),
  expired: z.array(
    z.object({
      ...named,
      paidUntil: z.number(),
      leftBy: z.string().exactOptional(),
      isListed: z.boolean(),
    }),
  ),
  drift: z.object({
    appeared: z.array(z.object(named)),
    vanished: z.array(z.object(named)),
    changed: z.array(z.object({ ...named, before: z.string(), now: z.string() })),
  }),
  snoozed: z.number(),
  left: z.number(),
  isComplete: z.boolean(),
});

const servers = z.array(
  z.object({ id: z.number(), label: z.string(), state: z.string(), paidUntil: z.number().exactOptional() }),
);

/** @throws ZodError, SyntaxError when it is not what was stored */
export function parseContent(json: string): DigestContent {
  return content.parse(JSON.parse(json));
}

/** @throws ZodError, SyntaxError */
export function parseServers(json: string): Snapshot['servers'] {
  return servers.parse(JSON.parse(json));
}

const renewals = z.array(
  z.object({
    id: z.string(),
    ...named,
    paidUntil: z.number(),
    price: z.number().int().transform(money).exactOptional(),
  }),
);

/** @throws ZodError, SyntaxError: money must not depend on a guess */
export function parseRenewals(json: string) {
  return renewals.parse(JSON.parse(json));
}
