import { Refusal } from '../../domain/errors.ts';
import type { PowerAction, Server } from '../../domain/server.ts';
import { isFullName } from '../../domain/server-ref.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import type { UseCaseContext } from '../authorize/use-case.ts';
import type { ServerRef } from './find-server.ts';
import type { ServerPorts } from './ports.ts';
import { refuseProtected } from './refuse-protected.ts';

/** A second reboot within this time is probably a second person, or an impatient press. */
const REPEAT_MS = 2 * MINUTE_MS;

type Context = Pick<UseCaseContext<ServerPorts>, 'actor' | 'ports'>;

/**
 * Checks what is about to be done to a server that was found. `isSure`: the user has confirmed this server and this action.
 * @throws Refusal `server_protected`; and unless the user is sure, `prefix_only` and `rebooted_recently`
 */
export async function checkPower(
  action: PowerAction,
  server: Server,
  { ref, isSure }: { readonly ref: ServerRef; readonly isSure?: boolean | undefined },
  { actor, ports }: Context,
): Promise<void> {
  await refuseProtected(action, server, actor.workspaceId, ports);
  if (isSure) return;
  if ('typed' in ref && !isFullName(ref.typed, server))
    throw new Refusal('prefix_only', { typed: ref.typed, server, action });
  if (action === 'reboot') await refuseRepeat(server, { actor, ports });
}

async function refuseRepeat(server: Server, { actor, ports }: Context): Promise<void> {
  const now = ports.system.now();
  const { workspaceId } = actor;
  const entries = await ports.audit.list({
    workspaceId,
    serverId: server.id,
    since: now - REPEAT_MS,
    limit: 50,
  });
  const last = entries.find(
    ({ action, outcome }) => action === 'reboot' && (outcome === 'done' || outcome === 'in_doubt'),
  );
  if (last)
    throw new Refusal('rebooted_recently', { server, agoMs: now - last.at, rebootedBy: last.actorId });
}
