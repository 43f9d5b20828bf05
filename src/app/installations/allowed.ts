import type { NewInstallation } from '../../domain/installation.ts';
import type { InstallationPorts } from './ports.ts';

/** Whether the operator lets this workspace or organization use the app (`ALLOWED_WORKSPACES`). */
export function isAllowed(
  { id, enterpriseId }: Pick<NewInstallation, 'id' | 'enterpriseId'>,
  { allowedWorkspaces }: Pick<InstallationPorts, 'allowedWorkspaces'>,
): boolean {
  if (allowedWorkspaces.length === 0) return true;
  return (
    allowedWorkspaces.includes(id) || (enterpriseId !== undefined && allowedWorkspaces.includes(enterpriseId))
  );
}
