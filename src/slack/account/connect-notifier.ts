import type { ConnectNotifier } from '../../app/account/ports.ts';
import type { Log } from '../../log.ts';
import { notifySafely } from '../transport/notify-safely.ts';
import type { Outbox } from '../transport/outbox.ts';
import { connectedAnnouncement, connectedMessage } from './connect-messages.ts';

/** Follows up on the message that held the link: its user may have closed the page, and others wait for the account. */
export function createConnectNotifier({
  outbox,
  log,
}: {
  readonly outbox: Outbox;
  readonly log: Log;
}): ConnectNotifier {
  return {
    notifyConnected: (link, servers) =>
      notifySafely(link.confirmationId, log, undefined, async () => {
        const message = connectedMessage(servers);
        const isShown = await outbox.replyTo(link).send(message);
        if (!isShown) await outbox.sendDirectly(link.workspaceId, link.userId, message);
        await outbox.announce(link, connectedAnnouncement(link.userId));
      }),
  };
}
