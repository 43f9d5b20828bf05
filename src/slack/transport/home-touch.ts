import type { UserId, WorkspaceId } from '../../domain/ids.ts';

/** Says that something has changed for a user, so that their Home may be out of date. */
export type TouchHome = (workspaceId: WorkspaceId, userId: UserId) => void;

/** Connects what changes things with what publishes Home, which is made later. */
export interface HomeTouches {
  readonly touch: TouchHome;
  listen(listener: TouchHome): void;
}

export function createHomeTouches(): HomeTouches {
  let told: TouchHome = () => undefined;
  return {
    touch: (workspaceId, userId) => told(workspaceId, userId),
    listen: (listener) => {
      told = listener;
    },
  };
}
