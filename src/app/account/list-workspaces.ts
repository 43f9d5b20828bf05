import type { WorkspaceId } from '../../domain/ids.ts';
import { useCasesOver } from '../authorize/use-case.ts';
import { requireEveryWorkspace } from './every-workspace.ts';
import type { AccountPorts } from './ports.ts';

const defineUseCase = useCasesOver<AccountPorts>();

/** Lists the workspaces that have an API key. @throws Refusal `other_workspace` from within a workspace */
export const listConnectedWorkspaces = defineUseCase({
  name: 'list_connected',
  needs: 'owner',
  effect: 'reads',
  run: async (_input: Record<never, never>, { actor, ports }): Promise<readonly WorkspaceId[]> => {
    requireEveryWorkspace(actor);
    return ports.apiKeys.listWorkspaces();
  },
});

/** Lists the workspaces that have audit entries, or had. @throws Refusal `other_workspace` from within a workspace */
export const listAuditedWorkspaces = defineUseCase({
  name: 'list_audited',
  needs: 'owner',
  effect: 'reads',
  run: async (_input: Record<never, never>, { actor, ports }): Promise<readonly WorkspaceId[]> => {
    requireEveryWorkspace(actor);
    return ports.audit.listWorkspaces();
  },
});
