import { Refusal } from '../../domain/errors.ts';
import { listChanges, type PurchaseFreeze, type WorkspaceSettings } from '../../domain/settings.ts';
import { defineUseCase, type UseCaseContext } from '../authorize/use-case.ts';
import type { Workspace } from './ports.ts';

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
    const freeze = settings.freeze && (was.freeze ?? freezeBy(context));
    const wanted = { ...settings, freeze };
    context.setSubject({ label: describeChanges(was, wanted) });
    const isChanged = await context.app.workspaces.changeSettings(id, was, wanted);
    if (!isChanged) throw new Refusal('settings_moved', {});
  },
});

/** Who froze purchases, and when, is not left to what the form says. */
function freezeBy({ actor, app }: Pick<UseCaseContext, 'actor' | 'app'>): PurchaseFreeze {
  return { by: actor.userId, since: app.system.now() };
}

/** "approval.delete false → true, budget.person none → 50.00", for the audit. */
function describeChanges(was: WorkspaceSettings, is: WorkspaceSettings): string {
  return listChanges(was, is)
    .map(({ name, before = 'none', after = 'none' }) => `${name} ${before} → ${after}`)
    .join(', ');
}

/** The workspace that the actor acts in; the entry has made sure that it is stored. */
export async function getWorkspace({
  actor,
  app,
}: Pick<UseCaseContext, 'actor' | 'app'>): Promise<Workspace> {
  const workspace = await app.workspaces.find(actor.workspaceId);
  if (!workspace) throw new Error('the entry admitted an actor to a workspace that is not stored');
  return workspace;
}
