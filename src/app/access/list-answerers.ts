import type { AccessRequest } from '../../domain/access-request.ts';
import { listOwners } from '../authorize/list-role-holders.ts';
import type { AppPorts } from '../ports.ts';

/** The owners who can answer a request, as far as they are known by id: not who asked. */
export async function listAnswerers(
  { workspaceId, requesterId }: AccessRequest,
  ports: AppPorts,
): Promise<readonly string[]> {
  return (await listOwners(workspaceId, ports)).filter((owner) => owner !== requesterId);
}
