import type { AppContext } from '../context.ts';
import type { ConfirmationId } from '../core/ids.ts';
import type { Lease } from './ports.ts';

/**
 * How long an operation stays with a process that has died: another one has taken it within a minute. A living process renews
 * its lease three times as often.
 */
const LEASE_MS = 45_000;

/** A lease of an operation from now, for a new owner unless one is named. */
export function newLease({ system }: AppContext, owner = system.newId()): Lease {
  return { owner, now: system.now(), until: system.now() + LEASE_MS };
}

/** Works while renewing the lease, and gives it back at the end; due again at the time that `work` returns. */
export async function withLease(
  id: ConfirmationId,
  owner: string,
  app: AppContext,
  work: () => Promise<number | undefined>,
): Promise<void> {
  const { ledger } = app;
  const ended = new AbortController();
  const renewing = renew(id, owner, app, ended.signal);
  let dueAt: number | undefined;
  try {
    dueAt = await work();
  } finally {
    ended.abort();
    await renewing;
    // The work has ended: a lease that can't be given back ends by itself.
    await ledger.release(id, owner, dueAt).catch((error: unknown) => {
      app.log.warn('a lease could not be given back', { operationId: id, cause: String(error) });
    });
  }
}

async function renew(id: ConfirmationId, owner: string, app: AppContext, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    try {
      await app.system.sleep(LEASE_MS / 3, ended);
      await app.ledger.lease(id, newLease(app, owner));
    } catch (error) {
      if (!ended.aborted)
        app.log.warn('a lease could not be renewed', { operationId: id, cause: String(error) });
    }
  }
}
