import { describeDefect } from '../../domain/errors.ts';
import { SEND_WITHIN_MS } from '../../domain/operation.ts';
import { MINUTE_MS, WEEK_MS } from '../../domain/time.ts';
import type { AppContext } from '../ports.ts';
import { endBatch, listResults } from './end-batch.ts';
import type { RenewalBatch } from './ports.ts';
import { batchLock } from './run-batch.ts';

/** A renewal confirmed this long ago is no longer sent, even by a process that was frozen: it can be reported as not begun. */
const BEGUN_MS = SEND_WITHIN_MS + MINUTE_MS;
const LEASE_MS = MINUTE_MS;

/** Reports the outcome of renewals whose process crashed, or whose message Slack refused. */
export async function sweepBatches(app: AppContext): Promise<void> {
  const now = app.system.now();
  for (const batch of await app.renewalBatches.listUnended(now - BEGUN_MS))
    await sweepBatch(batch, app).catch((error: unknown) => {
      app.log.warn('renewals could not be told', { confirmationId: batch.id, ...describeDefect(error) });
    });
  await app.renewalBatches.removeBefore(now - WEEK_MS);
}

async function sweepBatch(batch: RenewalBatch, app: AppContext): Promise<void> {
  const lock = { name: batchLock(batch.id), owner: app.system.newId() };
  // A living process renews its lease.
  if (!(await app.lockLeases.take(lock, LEASE_MS))) return;
  try {
    const results = await listResults(batch, new Map(), app);
    // The background carries these on within minutes.
    const isUnderWay = results.some(
      (each) => each.kind === 'operation' && ['prepared', 'sent'].includes(each.operation.state),
    );
    if (!isUnderWay) await endBatch(batch.id, new Map(), app);
  } finally {
    await app.lockLeases.release(lock);
  }
}
