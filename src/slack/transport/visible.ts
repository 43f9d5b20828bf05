import type { System } from '../../system.ts';
import type { Reply, SlackRequest } from './request.ts';

/** A user who sees nothing for longer than this presses Enter again. */
const SILENCE_MS = 700;

/** What an ack of a command says when nothing else has been visible by then. */
export const WORKING = 'Working on it…';

/** Waits until the user sees something of the work, or it has ended; true when they see nothing for too long. */
export async function isSilent(
  work: Promise<void>,
  visible: Promise<void>,
  system: Pick<System, 'sleep'>,
): Promise<boolean> {
  const stop = new AbortController();
  const late = system.sleep(SILENCE_MS, stop.signal).then(
    () => true,
    () => false,
  );
  const ended = work.then(
    () => false,
    () => false,
  );
  const seen = visible.then(() => false);
  try {
    return await Promise.race([seen, ended, late]);
  } finally {
    stop.abort();
  }
}

/** The same ways back, which say when Slack has taken something that the user sees. */
export function watchReply(reply: Reply, onVisible: () => void): Reply {
  const watched = async (taken: Promise<boolean>) => {
    const isTaken = await taken;
    if (isTaken) onVisible();
    return isTaken;
  };
  return {
    ...reply,
    send: (message) => watched(reply.send(message)),
    replace: (message) => watched(reply.replace(message)),
    announce: (message) => watched(reply.announce(message)),
  };
}

/** The same request, which says when a modal has been opened, or the channel was told. */
export function watchViews(request: SlackRequest, onVisible: () => void): SlackRequest {
  const { views } = request;
  const open: typeof views.open = async (view) => {
    const opened = await views.open(view);
    if (opened.ok) onVisible();
    return opened;
  };
  const announce: typeof request.announce = async (action) => {
    const announced = await request.announce(action);
    if (announced) onVisible();
    return announced;
  };
  return { ...request, views: { ...views, open }, announce };
}
