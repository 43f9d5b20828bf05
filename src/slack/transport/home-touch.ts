import type { HomeRedraw } from '../../app/home/homes-port.ts';
import type { UserId, WorkspaceId } from '../../domain/ids.ts';

/** Says that something has changed for a user, so that their Home may be out of date. */
export type TouchHome = (workspaceId: WorkspaceId, userId: UserId) => void;

interface Listener extends HomeRedraw {
  readonly refreshSoon: TouchHome;
}

/** Connects what changes things with what publishes Home, which is made later. */
export interface HomeTouches extends HomeRedraw {
  readonly touch: TouchHome;
  listen(listener: Listener): void;
}

export function createHomeTouches(): HomeTouches {
  let told: Listener = { refreshSoon: () => undefined, redraw: () => undefined };
  return {
    touch: (workspaceId, userId) => told.refreshSoon(workspaceId, userId),
    redraw: (workspaceId, userIds) => told.redraw(workspaceId, userIds),
    listen: (listener) => {
      told = listener;
    },
  };
}
