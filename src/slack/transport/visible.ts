import type { System } from '../../system.ts';
import type { Reply, SlackRequest } from './request.ts';

/** A user who sees nothing for longer than this presses Enter again. */
const SILENCE_MS = 700;

/** What an ack of a command says when nothing else has been visible by then; Slack may keep it beside the outcome. */
export const WORKING = 'Working on it. The result will appear here.';

/** Waits until the user sees something of the work, or it has ended; true when they see nothing for too long. */
export async function isSilent(
  work: Promise<void>,
  visible: Promise<void>,
  system: Pick<System, 'sleep'>,
): Promise<boolean> {
  // Never aborted: the error of an aborted wait cost more than the rest of an acknowledgement, and the timer is short.
  const late = system.sleep(SILENCE_MS).then(() => true);
  const ended = work.then(
    () => false,
    () => false,
  );
  const seen = visible.then(() => false);
  return Promise.race([seen, ended, late]);
}

/** A command's ways back, which say when the user sees something of its work. */
export interface SeenCommand {
  readonly reply: Reply;
  watch(request: SlackRequest): SlackRequest;
  /** Resolves when nothing is left to be taken away. */
  cleaned(): Promise<void>;
}

/**
 * Calls `onVisible` when the user sees something. Once the channel is told or a modal is open, what the ack said is taken
 * away, if Slack lets us; not where something went through the `response_url`, since what Slack then takes for its original
 * message is not documented.
 */
export function watchCommand(
  given: Reply,
  onVisible: () => void,
  saysWorking: Promise<boolean>,
): SeenCommand {
  let isAnswered = false;
  let cleaning: Promise<void> | undefined;
  const clean = async () => {
    if ((await saysWorking) && !isAnswered) await given.delete();
  };
  return {
    reply: watchReply(given, () => {
      isAnswered = true;
      onVisible();
    }),
    watch: (request) =>
      watchViews(request, () => {
        onVisible();
        cleaning ??= clean();
      }),
    cleaned: async () => {
      await cleaning;
    },
  };
}

/** The same ways back, which say when Slack has taken something that the user sees. */
function watchReply(reply: Reply, onVisible: () => void): Reply {
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

/** The same request, which says when a modal was opened or the channel got an announcement. */
function watchViews(request: SlackRequest, onVisible: () => void): SlackRequest {
  const { views } = request;
  const open: typeof views.open = async (view) => {
    const opened = await views.open(view);
    if (opened.ok) onVisible();
    return opened;
  };
  const announce: typeof request.announce = async (action, ...more) => {
    const announced = await request.announce(action, ...more);
    if (announced) onVisible();
    return announced;
  };
  return { ...request, views: { ...views, open }, announce };
}
