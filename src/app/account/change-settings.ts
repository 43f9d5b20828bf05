import { Refusal } from '../../domain/errors.ts';
import { listChanges, type WorkspaceSettings } from '../../domain/settings.ts';
import { type UseCaseContext, useCasesOver } from '../authorize/use-case.ts';
import type { AccountPorts, Workspace, Workspaces } from './ports.ts';

const defineUseCase = useCasesOver<AccountPorts>();

/** Reads what owners have set for the workspace. */
export const readSettings = defineUseCase({
  name: 'settings',
  needs: 'owner',
  effect: 'reads',
  run: async (_input: Record<never, never>, context): Promise<WorkspaceSettings> =>
    (await getWorkspace(context)).settings,
});

/**
 * Changes settings; the audit names each with what it was and what it is.
 * @throws Refusal `settings_moved` when they have changed since the form was opened
 */
export const changeSettings = defineUseCase({
  name: 'settings_change',
  needs: 'owner',
  effect: 'changes',
  subject: ({ was, settings }) => ({ label: describeChanges(was, settings) }),
  /** `was`: what the form showed. */
  run: async (
    { was, settings }: { was: WorkspaceSettings; settings: WorkspaceSettings },
    context,
  ): Promise<void> => {
    const { id } = await getWorkspace(context);
    const isChanged = await context.ports.workspaces.changeSettings(id, was, settings);
    if (!isChanged) throw new Refusal('settings_moved', {});
  },
});

/** "approval.delete false → true, budget.person none → 50.00", for the audit. */
export function describeChanges(was: WorkspaceSettings, is: WorkspaceSettings): string {
  return listChanges(was, is)
    .map(({ name, before = 'none', after = 'none' }) => `${name} ${before} → ${after}`)
    .join(', ');
}

/** The workspace that the actor acts in; the entry has made sure that it is stored. */
export async function getWorkspace({
  actor,
  ports,
}: Pick<
  UseCaseContext<{ readonly workspaces: Pick<Workspaces, 'find'> }>,
  'actor' | 'ports'
>): Promise<Workspace> {
  const workspace = await ports.workspaces.find(actor.workspaceId);
  if (!workspace) throw new Error('the entry admitted an actor to a workspace that is not stored');
  return workspace;
}
