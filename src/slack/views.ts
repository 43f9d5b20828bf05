import { LRUCache } from 'lru-cache';
import type { ConfirmationId } from '../core/ids.ts';
import type { System } from '../system.ts';

/** How late Slack may apply an ack: then it would overwrite an update that was sent after it. */
const APPLIED_AFTER_MS = 1000;
const MOST_VIEWS = 1000;

/** Keeps the ack of a submission from overwriting later updates of its modal. */
export interface AcknowledgedViews {
  /** Notes that a modal was submitted. `answered` resolves when its ack has been sent. */
  begin(viewId: string, answered: Promise<void>): void;
  /** Runs an update of a modal: in the order of the calls, and once Slack has had time to apply the ack. */
  update<Result>(viewId: string, work: () => Promise<Result>): Promise<Result>;
}

/** Creates the order of updates, for the thousand modals that were submitted last. */
export function createAcknowledgedViews(system: System): AcknowledgedViews {
  const last = new LRUCache<string, Promise<unknown>>({ max: MOST_VIEWS });
  return {
    begin: (viewId, answered) => {
      last.set(
        viewId,
        answered.then(() => system.sleep(APPLIED_AFTER_MS)),
      );
    },
    update: (viewId, work) => {
      const before = last.get(viewId);
      if (!before) return work();
      const done = before.then(work, work);
      last.set(viewId, done);
      return done;
    },
  };
}

/** The modals that show the progress of confirmations. Nothing depends on them, since users may close them. */
export interface FollowedViews {
  /** Notes that a modal shows the progress of a confirmation. */
  set(id: ConfirmationId, viewId: string): void;
  /** Finds the modal of a confirmation, and forgets it. */
  take(id: ConfirmationId): string | undefined;
}

/** Creates the memory of followed modals. The oldest of more than `most` are forgotten. */
export function createFollowedViews(most = 1000): FollowedViews {
  const views = new LRUCache<ConfirmationId, string>({ max: most });
  return {
    set: (id, viewId) => {
      views.set(id, viewId);
    },
    take: (id) => {
      const viewId = views.get(id);
      views.delete(id);
      return viewId;
    },
  };
}
