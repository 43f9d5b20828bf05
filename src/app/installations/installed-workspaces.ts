import type { InstallationId, WorkspaceId } from '../../domain/ids.ts';
import type { Installation } from '../../domain/installation.ts';
import type { Secret } from '../../domain/secret.ts';
import type { Installations } from '../authorize/ports.ts';
import { isAllowed } from './allowed.ts';
import { auditOfInstall } from './audit-of-install.ts';
import type { Admission, InstallationPorts, RequestPlace } from './ports.ts';

/** What an error of Slack's may mean: the token is gone, or the workspace left the organization's installation. */
export type Suspicion = 'token_refused' | 'team_access_not_granted';

/** The workspaces in which the app was installed by OAuth. */
export interface InstalledWorkspaces extends Installations {
  /** What to call Slack with for a workspace; `teamId` where the token is for a whole organization. */
  findToken(
    workspaceId: WorkspaceId,
  ): Promise<{ readonly token: Secret<string>; readonly teamId?: WorkspaceId } | undefined>;
  /** Whether it is served by the installation of its organization. */
  isOfOrganization(workspaceId: WorkspaceId): Promise<boolean>;
  /** Whether a request from there is handled. The first one from a workspace of an organization introduces it. */
  admit(place: RequestPlace): Promise<Admission>;
  /** Slack has refused a call for this workspace with that error: looks whether the app may still work there. */
  suspect(workspaceId: WorkspaceId, error: Suspicion): Promise<void>;
}

/** Nothing is kept in memory: what one process learns counts in all of them, and an uninstall at once. */
export function createInstalledWorkspaces(app: InstallationPorts): InstalledWorkspaces {
  const findAllowed = async (workspaceId: WorkspaceId): Promise<Installation | undefined> => {
    const installation = await app.installationStore.findServing(workspaceId);
    return installation && isAllowed(installation, app) ? installation : undefined;
  };
  return {
    isServed: async (workspaceId) => (await findAllowed(workspaceId)) !== undefined,
    needsInstall: async (workspaceId) => (await findAllowed(workspaceId))?.isRefreshRefused ?? false,
    findToken: async (workspaceId) => {
      const installation = await findAllowed(workspaceId);
      if (!installation) return undefined;
      const { tokens, isOrg } = installation;
      return isOrg ? { token: tokens.bot, teamId: workspaceId } : { token: tokens.bot };
    },
    isOfOrganization: async (workspaceId) => (await findAllowed(workspaceId))?.isOrg ?? false,
    admit: (place) => admit(place, app),
    suspect: (workspaceId, error) => suspect(workspaceId, error, app),
  };
}

async function admit({ workspaceId, orgId }: RequestPlace, app: InstallationPorts): Promise<Admission> {
  if (workspaceId === orgId || workspaceId === '') return 'no_workspace';
  const serving = await app.installationStore.findServing(workspaceId);
  if (orgId !== undefined && serving?.id !== orgId) return introduce(workspaceId, orgId, app);
  if (!serving) return 'not_installed';
  if (!isAllowed(serving, app)) return 'not_allowed';
  return (await isRefused(serving, app)) ? 'refused' : 'served';
}

/** Without a token that works, nothing could be done but answer. */
async function isRefused(installation: Installation, app: InstallationPorts): Promise<boolean> {
  const { installationStore, tokenService, system } = app;
  const { tokens, isRefreshRefused, isTokenRefused } = installation;
  if (isRefreshRefused && tokens.rotation && tokens.rotation.expiresAt <= system.now()) return true;
  if (!isTokenRefused) return false;
  // It may have been an address that Slack didn't allow, or a workspace that was locked for a while.
  if ((await tokenService.test(tokens.bot)) !== 'works') return true;
  await installationStore.markTokenRefused(installation, false);
  return false;
}

async function suspect(workspaceId: WorkspaceId, error: Suspicion, app: InstallationPorts): Promise<void> {
  const { installationStore } = app;
  const installation = await installationStore.findServing(workspaceId);
  if (!installation) return;
  if (error === 'team_access_not_granted') {
    if (installation.isOrg) await installationStore.stopServing(workspaceId, installation.id);
  } else if (!installation.isTokenRefused) await testToken(installation, app);
}

async function testToken(
  installation: Installation,
  { installationStore, tokenService, log }: InstallationPorts,
): Promise<void> {
  const verdict = await tokenService.test(installation.tokens.bot);
  if (verdict !== 'revoked') return;
  log.warn('Slack does not accept a token any more', { installation: installation.id });
  await installationStore.markTokenRefused(installation, true);
}

/** Slack itself says whether the organization has given the app to the workspace. */
async function introduce(
  workspaceId: WorkspaceId,
  orgId: InstallationId,
  app: InstallationPorts,
): Promise<Admission> {
  const { installationStore, tokenService, system, log } = app;
  const installation = await installationStore.find(orgId);
  if (!installation?.isOrg) return 'not_installed';
  if (!isAllowed(installation, app)) return 'not_allowed';
  if (await isRefused(installation, app)) return 'refused';
  const listed = await tokenService.listWorkspaces(installation.tokens.bot);
  if (!listed) return 'unknown';
  const workspace = listed.find(({ id }) => id === workspaceId);
  if (!workspace) return 'not_installed';
  const auditOf = auditOfInstall(installation.installedBy, app);
  if (!(await installationStore.serve(workspace, installation, system.now(), auditOf))) return 'unknown';
  log.info('serving a workspace of an organization', { workspace: workspaceId, installation: orgId });
  return 'served';
}
