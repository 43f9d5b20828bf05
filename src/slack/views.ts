import { LRUCache } from 'lru-cache';
import type { ConfirmationId } from '../core/ids.ts';
import type { System } from '../system.ts';

/** Slack may apply what an ack says up to a second late, and then over an update that came after it. */
const APPLIED_AFTER_MS = 1000;
const MOST_VIEWS = 1000;

/** Keeps updates of a modal from being overtaken by the ack of its submission. */
export interface AcknowledgedViews {
  /** The modal was submitted; its ack has left when `answered` resolves. */
  begin(viewId: string, answered: Promise<void>): void;
  /** Updates a modal: in the order of the calls, and not before its ack has had the time to be applied. */
  update<Result>(viewId: string, work: () => Promise<Result>): Promise<Result>;
}

/** Remembers the modals that were submitted last. */
export function createAcknowledgedViews(system: Pick<System, 'sleep'>): AcknowledgedViews {
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

/** Which open modal shows the progress of which confirmation. Nothing depends on it: the modal may be closed. */
export interface FollowedViews {
  set(id: ConfirmationId, viewId: string): void;
  /** Finds the modal and forgets it. */
  take(id: ConfirmationId): string | undefined;
}

/** Remembers modals for as long as they plausibly stay open: the oldest make room for new ones. */
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
