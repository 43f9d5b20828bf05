import { z } from 'zod';
import type { System } from '../../system.ts';
import type { Dispatch } from './dispatch.ts';

/** So many commands and presses of one workspace are begun before others of it have to wait. */
const AT_ONCE = 8;
/** Work that takes longer than this is waiting for an answer from outside, and no longer holds others up. */
const TURN_MS = 100;

interface Queue {
  begun: number;
  readonly waiting: (() => void)[];
}

/** Runs the work when the queue of its workspace allows it. */
export type WorkspaceQueues = (workspaceId: string, work: () => Promise<void>) => Promise<void>;

/**
 * Each workspace has a queue of its own, so that one which sends hundreds of requests at once keeps itself waiting and
 * no one else: without this, everything would be worked on at once, and all of it would end late.
 */
export function createWorkspaceQueues(system: Pick<System, 'sleep'>): WorkspaceQueues {
  const queues = new Map<string, Queue>();
  const end = (workspaceId: string, queue: Queue) => {
    const next = queue.waiting.shift();
    if (next) return next();
    queue.begun--;
    if (queue.begun === 0) queues.delete(workspaceId);
  };
  return async (workspaceId, work) => {
    const queue = queues.get(workspaceId) ?? { begun: 0, waiting: [] };
    queues.set(workspaceId, queue);
    if (queue.begun < AT_ONCE) queue.begun++;
    else await new Promise<void>((resolve) => queue.waiting.push(resolve));
    const working = work();
    const ended = working.catch(() => undefined);
    // The timer is short, and never aborted: the error of an aborted wait costs more.
    void Promise.race([ended, system.sleep(TURN_MS)]).then(() => end(workspaceId, queue));
    return working;
  };
}

const place = z.object({
  team_id: z.string().optional(),
  team: z.object({ id: z.string() }).nullish(),
});

/** The same, with queues for commands and presses. Submissions have to be answered within seconds, and never wait. */
export function withWorkspaceQueues(dispatch: Dispatch, queued: WorkspaceQueues): Dispatch {
  return {
    ...dispatch,
    command: (body, delivery) => queued(workspaceOf(body), () => dispatch.command(body, delivery)),
    action: (body, delivery) => queued(workspaceOf(body), () => dispatch.action(body, delivery)),
  };
}

/** As far as it can be read: nothing but waiting depends on it. */
function workspaceOf(body: unknown): string {
  const { team_id, team } = place.safeParse(body).data ?? {};
  return team_id ?? team?.id ?? '';
}
