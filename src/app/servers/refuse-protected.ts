import { Refusal } from '../../domain/errors.ts';
import type { ServerAct } from '../../domain/failed-act.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import type { Server } from '../../domain/server.ts';
import type { AppContext } from '../ports.ts';

/** What can't be done to a protected server: by any user, on any surface, approved or not. */
const PROTECTED_ACTS: readonly ServerAct[] = ['stop', 'reboot', 'delete'];

/** @throws Refusal `server_protected` */
export async function refuseProtected(
  act: ServerAct,
  server: Pick<Server, 'id' | 'label'>,
  workspaceId: WorkspaceId,
  { protections }: AppContext,
): Promise<void> {
  if (!PROTECTED_ACTS.includes(act)) return;
  const protection = await protections.find(workspaceId, server.id);
  if (!protection) return;
  const { id, label } = server;
  const { protectedBy } = protection;
  throw new Refusal('server_protected', { server: { id, label }, act, protectedBy });
}
