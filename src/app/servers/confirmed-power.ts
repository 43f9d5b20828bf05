import { Refusal } from '../../domain/errors.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { freezeBriefly, isIdenticalLabel } from '../../domain/label.ts';
import type { PowerAction, Server } from '../../domain/server.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import type { AppContext } from '../ports.ts';
import type { ExactRef, ServerRef } from './find-server.ts';

/** A list of servers that the user was shown, and has confirmed. */
export interface PowerConfirmation {
  readonly id: ConfirmationId;
  /** When the list was made, in epoch milliseconds. */
  readonly at: number;
}

/** Less than the time for which handled requests are remembered (`sweep.ts`): a second press is always recognized. */
export const CONFIRM_WITHIN_MS = 10 * MINUTE_MS;

interface Confirmed {
  readonly ref: ServerRef | ExactRef;
  readonly server: Server;
  readonly confirmed: PowerConfirmation;
}

/**
 * Checks that a confirmed list is still what the user has read, and takes it for this server: a second press does nothing.
 * @throws Refusal `confirmation_expired`, `server_renamed`, `already_handled`
 */
export async function takeConfirmation(
  action: PowerAction,
  { ref, server, confirmed: { id, at } }: Confirmed,
  { system, seenRequests }: AppContext,
): Promise<void> {
  const now = system.now();
  if (now - at > CONFIRM_WITHIN_MS) throw new Refusal('confirmation_expired', { action });
  const label = 'id' in ref ? ref.label : undefined;
  if (label !== undefined && !isIdenticalLabel(freezeBriefly(server.label), label))
    throw new Refusal('server_renamed', { before: label, now: server.label, action });
  if (!(await seenRequests.addFirst(`power:${id}:${server.id}`, now)))
    throw new Refusal('already_handled', {});
}
