import { Refusal } from '../../domain/errors.ts';
import type { UserId } from '../../domain/ids.ts';
import type { PowerAction, Server } from '../../domain/server.ts';
import { isFullName } from '../../domain/server-ref.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import type { UseCaseContext } from '../authorize/use-case.ts';
import { type PowerConfirmation, takeConfirmation } from './confirmed-power.ts';
import type { ExactRef, ServerRef } from './find-server.ts';
import { refuseProtected } from './refuse-protected.ts';

/** A second reboot within this time is probably a second person, or an impatient press. */
const REPEAT_MS = 2 * MINUTE_MS;

type Context = Pick<UseCaseContext, 'actor' | 'app'>;

interface Sureness {
  readonly ref: ServerRef | ExactRef;
  /** The user has confirmed this server and this action. */
  readonly isSure?: boolean | undefined;
  readonly confirmed?: PowerConfirmation | undefined;
}

/**
 * Checks what is about to be done to a server that was found.
 * @throws Refusal `server_protected`; unless the user is sure, `prefix_only` and `rebooted_recently`; and for a confirmed
 * list what `takeConfirmation` throws
 */
export async function checkPower(
  action: PowerAction,
  server: Server,
  { ref, isSure, confirmed }: Sureness,
  context: Context,
): Promise<void> {
  const { actor, app } = context;
  await refuseProtected(action, server, actor.workspaceId, app);
  if (isSure) return;
  if ('typed' in ref && !isFullName(ref.typed, server))
    throw new Refusal('prefix_only', { typed: ref.typed, server, action });
  if (confirmed) await takeConfirmation(action, { ref, server, confirmed }, app);
  // The list says who rebooted its servers before: only a later reboot is news.
  const last = action === 'reboot' ? await findReboot(server, context, confirmed?.at) : undefined;
  if (last) throw new Refusal('rebooted_recently', { server, ...last });
}

/** Who rebooted the server within the last two minutes; `since` looks only at what came after. */
export async function findReboot(
  { id: serverId }: Server,
  { actor: { workspaceId }, app }: Context,
  since = 0,
): Promise<{ readonly agoMs: number; readonly rebootedBy: UserId } | undefined> {
  const now = app.system.now();
  const entries = await app.audit.list({
    workspaceId,
    serverId,
    since: Math.max(since, now - REPEAT_MS),
    limit: 50,
  });
  const last = entries.find(
    ({ action, outcome }) => action === 'reboot' && (outcome === 'done' || outcome === 'in_doubt'),
  );
  return last && { agoMs: now - last.at, rebootedBy: last.actorId };
}
