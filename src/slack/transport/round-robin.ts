/** Resolves when it's the turn of a request from there. */
export type RoundRobin = (workspaceId: string) => Promise<void>;

/**
 * Requests take turns by workspace: while the event loop goes around once, one of each workspace begins. A request costs a
 * millisecond or two before it's acknowledged, so behind hundreds that one workspace sent at once, those of all others
 * would wait for a second.
 */
export function createRoundRobin(): RoundRobin {
  const waiting = new Map<string, (() => void)[]>();
  const goAround = () => {
    for (const [workspaceId, queue] of [...waiting]) {
      queue.shift()?.();
      if (queue.length === 0) waiting.delete(workspaceId);
    }
    if (waiting.size > 0) setImmediate(goAround);
  };
  return (workspaceId) =>
    new Promise((resolve) => {
      if (waiting.size === 0) setImmediate(goAround);
      const queue = waiting.get(workspaceId);
      if (queue) queue.push(resolve);
      else waiting.set(workspaceId, [resolve]);
    });
}

/**
 * The workspace that a signed request comes from, or ''. Slack puts it in different places, and the workspace of a visiting user
 * may be found instead: so it decides on the order, and on nothing else.
 */
export function claimedWorkspace(body: string): string {
  return /team(?:_id)?(?:=|(?:%22|%3A|%7B|[":{ ]|id)+)([A-Z0-9]{2,20})/.exec(body)?.[1] ?? '';
}
