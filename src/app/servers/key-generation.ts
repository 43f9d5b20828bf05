import type { UseCaseContext } from '../authorize/use-case.ts';
import type { ServerPorts } from './ports.ts';

/** Which API key the workspace has: what is followed under it is not looked for under another one. */
export async function findKeyGeneration({
  actor,
  ports,
}: Pick<UseCaseContext<ServerPorts>, 'actor' | 'ports'>): Promise<number> {
  return (await ports.apiKeys.find(actor.workspaceId))?.generation ?? 0;
}
