import { MINUTE_MS } from '../../domain/time.ts';
import type { Log } from '../../log.ts';
import type { System } from '../../system.ts';
import type { LeftBehind } from './ports.ts';

interface Parts {
  readonly leftBehind: LeftBehind;
  readonly system: Pick<System, 'elapsed'>;
  readonly log: Log;
}

const PERIOD_MS = 10 * MINUTE_MS;

/** Looks at the first call and then every ten minutes. */
export function createLeftBehindSweep({ leftBehind, system, log }: Parts): () => Promise<void> {
  let lookedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (system.elapsed() - lookedAt < PERIOD_MS) return;
    lookedAt = system.elapsed();
    for (const workspace of await leftBehind.erase())
      log.warn('uninstalled by an older version: what it left behind is erased', { workspace });
  };
}
