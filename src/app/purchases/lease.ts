import { MINUTE_MS } from '../../domain/time.ts';
import type { AppPorts } from '../ports.ts';

/** How long an operation stays with a process that has died. A living one renews it three times as often. */
const LEASE_MS = MINUTE_MS;

/** A new holder's lease of an operation, from now. */
export function newLease({ system }: AppPorts, owner = system.newId()) {
  return { owner, now: system.now(), until: system.now() + LEASE_MS };
}

/** Works while holding the lease, renewing it, and gives it back at the end, due again at the time that `work` says. */
export async function withLease(
  id: string,
  owner: string,
  ports: AppPorts,
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
    await ledger.release(id, owner, dueAt);
  }
}

async function renew(id: string, owner: string, ports: AppPorts, ended: AbortSignal): Promise<void> {
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
