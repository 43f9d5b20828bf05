import { z } from 'zod';

/** What Slack sends over a WebSocket, as far as it is looked at before Slack's library gets it. */
export type SocketMessage =
  | { readonly kind: 'hello'; readonly connections: number | undefined }
  /** Slack closes this connection: soon, if it is a routine, or now. */
  | { readonly kind: 'disconnect'; readonly reason: string }
  | { readonly kind: 'envelope'; readonly id: string };

const hello = z.object({ type: z.literal('hello'), num_connections: z.number().optional().catch(undefined) });
const disconnect = z.object({
  type: z.literal('disconnect'),
  reason: z
    .string()
    .regex(/^[a-z_]{1,60}$/)
    .catch('unknown'),
});
const envelope = z.object({
  type: z.string(),
  envelope_id: z.string().min(1).max(200),
  // Slack's library looks into it without asking whether it is there.
  payload: z.record(z.string(), z.unknown()),
});
const eventPayload = z.object({ event: z.object({ type: z.string() }) });

/** Undefined: nothing that is known, which is ignored. */
export function readSocketMessage(data: unknown): SocketMessage | undefined {
  const message = typeof data === 'string' ? parse(data) : undefined;
  const greeting = hello.safeParse(message).data;
  if (greeting) return { kind: 'hello', connections: greeting.num_connections };
  const farewell = disconnect.safeParse(message).data;
  if (farewell) return { kind: 'disconnect', reason: farewell.reason };
  const work = envelope.safeParse(message).data;
  if (!work) return undefined;
  if (work.type === 'events_api' && !eventPayload.safeParse(work.payload).success) return undefined;
  return { kind: 'envelope', id: work.envelope_id };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
