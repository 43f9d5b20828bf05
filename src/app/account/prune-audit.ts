import { defineUseCase } from '../authorize/use-case.ts';
import { requireEveryWorkspace } from './every-workspace.ts';
import type { PrunedWorkspace } from './ports.ts';

/**
 * Removes audit entries from before a time (epoch milliseconds) in every workspace. What is left can still be verified.
 * @throws Refusal `other_workspace` from within a workspace
 */
export const pruneAudit = defineUseCase({
  name: 'audit_prune',
  needs: 'owner',
  // The audit log itself writes that entries were removed, in each workspace where there were some.
  effect: 'reads',
  run: async (input: { before: number }, { actor, app }): Promise<readonly PrunedWorkspace[]> => {
    requireEveryWorkspace(actor);
    const by = { at: app.system.now(), actorId: actor.userId, surface: 'cli' } as const;
    return app.audit.prune(input.before, by);
  },
});
