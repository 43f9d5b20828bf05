import { LRUCache } from 'lru-cache';
import type { ConfirmationId } from '../../domain/ids.ts';

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
