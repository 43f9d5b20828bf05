import { describeDefect } from '../../domain/errors.ts';
import { SEND_WITHIN_MS } from '../../domain/operation.ts';
import { MINUTE_MS, WEEK_MS } from '../../domain/time.ts';
import type { Log } from '../../log.ts';
import type { System } from '../../system.ts';
import type { LockLeases } from '../locks.ts';
import { type EndPorts, endBatch, listResults } from './end-batch.ts';
import type { RenewalBatch } from './ports.ts';
import { batchLock } from './run-batch.ts';

export interface SweepBatchPorts extends EndPorts {
  readonly system: Pick<System, 'now' | 'newId'>;
  readonly lockLeases: LockLeases;
  readonly log: Pick<Log, 'warn'>;
}

/** A renewal confirmed this long ago is no longer sent, even by a process that was frozen: it can be reported as not begun. */
const BEGUN_MS = SEND_WITHIN_MS + MINUTE_MS;
const LEASE_MS = MINUTE_MS;

/** Reports the outcome of renewals whose process crashed, or whose message Slack refused. */
export async function sweepBatches(ports: SweepBatchPorts): Promise<void> {
  const now = ports.system.now();
  for (const batch of await ports.renewalBatches.listUnended(now - BEGUN_MS))
    await sweepBatch(batch, ports).catch((error: unknown) => {
      ports.log.warn('renewals could not be told', { confirmationId: batch.id, ...describeDefect(error) });
    });
  await ports.renewalBatches.removeBefore(now - WEEK_MS);
}

async function sweepBatch(batch: RenewalBatch, ports: SweepBatchPorts): Promise<void> {
  const lock = { name: batchLock(batch.id), owner: ports.system.newId() };
  // A living process renews its lease.
  if (!(await ports.lockLeases.take(lock, LEASE_MS))) return;
  try {
    const results = await listResults(batch, new Map(), ports);
    // The background carries these on within minutes.
    const isUnderWay = results.some(
      (each) => each.kind === 'operation' && ['prepared', 'sent'].includes(each.operation.state),
    );
    if (!isUnderWay) await endBatch(batch.id, new Map(), ports);
  } finally {
    await ports.lockLeases.release(lock);
  }
}
