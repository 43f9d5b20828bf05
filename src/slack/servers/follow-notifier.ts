import type { FollowNotifier } from '../../app/servers/follow-acts.ts';
import type { FollowedAct } from '../../domain/followed-act.ts';
import type { Log } from '../../log.ts';
import { notifySafely } from '../transport/notify-safely.ts';
import type { Outbox } from '../transport/outbox.ts';
import { followedAnswer, followedMessage } from './follow-message.ts';

interface Parts {
  readonly outbox: Outbox;
  readonly log: Log;
}

const FAILED = { kind: 'later', afterMs: 15_000 } as const;

/** Tells what becomes of servers: in the channel's message, or to the actor alone. */
export function createFollowNotifier({ outbox, log }: Parts): FollowNotifier {
  return {
    update: (act) =>
      notifySafely(act.id, log, FAILED, async () =>
        act.message
          ? outbox.editPaced(act.workspaceId, act.message, followedMessage(act))
          : { kind: 'gone' as const },
      ),
    tellActor: (act) => notifySafely(act.id, log, false, () => tellActor(act, outbox)),
  };
}

async function tellActor(act: FollowedAct, outbox: Outbox): Promise<boolean> {
  const { id: confirmationId, workspaceId, actorId: userId, channelId, thread } = act;
  const message = followedAnswer(act);
  const reply = outbox.replyTo({ confirmationId, workspaceId, userId, channelId, thread });
  return (await reply.send(message)) || outbox.sendDirectly(workspaceId, userId, message);
}
