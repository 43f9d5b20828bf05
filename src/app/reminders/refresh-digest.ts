import { describeDefect } from '../../domain/errors.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { InFlight } from '../../domain/in-flight.ts';
import type { AppContext } from '../ports.ts';
import type { OperationNotifier } from '../purchases/notifier-port.ts';
import { waitForDigestLock } from './digest-lock.ts';
import type { BatchNotifier } from './end-batch.ts';
import { describeDigest } from './find-standings.ts';

/** Edits the newest digest in Slack, so that it shows what was done about its servers. It is tried once. */
export async function refreshDigest(workspaceId: WorkspaceId, app: AppContext): Promise<void> {
  await waitForDigestLock(workspaceId, app, async () => {
    const live = await app.digests.findLive(workspaceId);
    if (!live || !(await app.installations.isServed(workspaceId))) return true;
    const digest = await describeDigest(live, app);
    const edited = await app.reminderNotifier.update(workspaceId, live.card, digest);
    if (edited === 'gone') await app.digests.close(workspaceId, live.day);
    return true;
  });
}

type Notifiers = { readonly operationNotifier: OperationNotifier; readonly batchNotifier: BatchNotifier };

/**
 * The notifiers of renewals, which edit the digest of the workspace as well. Nobody waits for that: what is not edited, such
 * as after a crash, is shown by the next day's digest.
 */
export function createDigestEdits(app: AppContext) {
  const { operationNotifier, batchNotifier, log } = app;
  const edits = new InFlight();
  const edit = (workspaceId: WorkspaceId): void => {
    const work = refreshDigest(workspaceId, app).catch((error: unknown) =>
      log.warn('a digest could not be edited', { workspaceId, ...describeDefect(error) }),
    );
    void edits.add(work);
  };
  const notifiers: Notifiers = {
    operationNotifier: {
      ...operationNotifier,
      notify: async (operation, held, reported) => {
        const told = await operationNotifier.notify(operation, held, reported);
        if (operation.purchase.kind === 'renew') edit(operation.workspaceId);
        return told;
      },
    },
    batchNotifier: {
      notifyBatch: async (batch, results) => {
        const isTold = await batchNotifier.notifyBatch(batch, results);
        edit(batch.workspaceId);
        return isTold;
      },
    },
  };
  return { notifiers, drain: () => edits.drain() };
}
