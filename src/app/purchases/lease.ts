import type { ConfirmationId } from '../../domain/ids.ts';
import type { Lease, LeasePorts } from './ports.ts';

/**
 * How long an operation stays with a process that has died: another one has taken it within a minute. A living process renews
 * its lease three times as often.
 */
const LEASE_MS = 45_000;

/** A lease of an operation from now, for a new owner unless one is named. */
export function newLease({ system }: Pick<LeasePorts, 'system'>, owner = system.newId()): Lease {
  return { owner, now: system.now(), until: system.now() + LEASE_MS };
}

/** Works while renewing the lease, and gives it back at the end; due again at the time that `work` returns. */
export async function withLease(
  id: ConfirmationId,
  owner: string,
  ports: LeasePorts,
  work: () => Promise<number | undefined>,
): Promise<void> {
  const { ledger } = ports;
  const ended = new AbortController();
  const renewing = renew(id, owner, ports, ended.signal);
  let dueAt: number | undefined;
  try {
    dueAt = await work();
  } finally {
    ended.abort();
    await renewing;
    // The work has ended: a lease that can't be given back ends by itself.
    await ledger.release(id, owner, dueAt).catch((error: unknown) => {
      ports.log.warn('a lease could not be given back', { operationId: id, cause: String(error) });
    });
  }
}

async function renew(
  id: ConfirmationId,
  owner: string,
  ports: LeasePorts,
  ended: AbortSignal,
): Promise<void> {
  while (!ended.aborted) {
    try {
      await ports.system.sleep(LEASE_MS / 3, ended);
      await ports.ledger.lease(id, newLease(ports, owner));
    } catch (error) {
      if (!ended.aborted)
        ports.log.warn('a lease could not be renewed', { operationId: id, cause: String(error) });
    }
  }
}
