import type { InstalledWorkspaces, Suspicion } from '../../app/installations/installed-workspaces.ts';
import { describeDefect } from '../../domain/errors.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import type { Log } from '../../log.ts';
import type { Admit } from './admission.ts';
import { type AbilityWatch, isTokenRefused } from './slack-abilities.ts';
import type { SeenAnswer } from './slack-api.ts';
import type { TokenSource } from './slack-clients.ts';

/** The workspaces in which the app was installed, as Slack's side uses them. */
export interface InstalledSource extends TokenSource {
  readonly admit: Admit;
  /** Learns from an answer, and has the token looked at when Slack refuses it. */
  watch(workspaceId: WorkspaceId, seen: SeenAnswer): void;
}

export function createInstalledSource(
  installed: InstalledWorkspaces,
  abilities: AbilityWatch,
  log: Log,
): InstalledSource {
  const suspect = (workspaceId: WorkspaceId, error: Suspicion) => {
    installed.suspect(workspaceId, error).catch((cause: unknown) => {
      log.error('an installation could not be looked at', describeDefect(cause));
    });
  };
  return {
    isServed: (workspaceId) => installed.isServed(workspaceId),
    needsInstall: async (workspaceId) => (await installed.needsInstall?.(workspaceId)) ?? false,
    find: (workspaceId) => installed.findToken(workspaceId),
    isOfOrganization: (workspaceId) => installed.isOfOrganization(workspaceId),
    admit: (place) => installed.admit(place),
    watch: (workspaceId, seen) => {
      abilities.watch(workspaceId, seen);
      if (isTokenRefused(seen.error)) suspect(workspaceId, 'token_refused');
      if (seen.error === 'team_access_not_granted') suspect(workspaceId, seen.error);
    },
  };
}
