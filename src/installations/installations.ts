import { describeDefect } from '../core/errors.ts';
import type { InstallationId, UserId, WorkspaceId } from '../core/ids.ts';
import { withTimeout } from '../core/promises.ts';
import type { Secret } from '../core/secret.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { Jobs } from '../db/jobs.ts';
import type { Log } from '../log.ts';
import type { System } from '../system.ts';
import { INSTALLATION, type InstallationStore, renewalDueAt } from './store.ts';

/** Slack's verdict on a token. `revoked` only if Slack says just that; `unknown` for every other error. */
export type TokenVerdict = 'works' | 'revoked' | 'unknown';

/** The outcome of a refresh. `refused`: this refresh token will never work. */
export type RefreshOutcome =
  | { readonly kind: 'renewed'; readonly tokens: BotTokens }
  | { readonly kind: 'refused' | 'unknown'; readonly error: string };

/** Slack's methods for tokens. None throws. */
export interface TokenService {
  test(token: Secret<string>): Promise<TokenVerdict>;
  refresh(refreshToken: Secret<string>): Promise<RefreshOutcome>;
  revoke(token: Secret<string>): Promise<void>;
  /** The workspaces of an organization's token; undefined if Slack doesn't say. */
  listWorkspaces(token: Secret<string>): Promise<readonly ServedWorkspace[] | undefined>;
}

/** Where a request comes from, according to Slack. */
export interface RequestPlace {
  readonly workspaceId: WorkspaceId;
  /** The organization, if the app was installed for all of it. */
  readonly orgId?: InstallationId;
}

/**
 * Whether requests from a workspace are handled. `refused`: Slack no longer accepts the app's token. `unknown`: Slack didn't say
 * whether the organization has given the app to the workspace. `no_workspace`: the request doesn't name a workspace.
 */
export type Admission = 'served' | 'not_installed' | 'not_allowed' | 'refused' | 'unknown' | 'no_workspace';

export interface InstallationPorts {
  readonly installationStore: InstallationStore;
  readonly tokenService: TokenService;
  /** Workspaces and organizations (`ALLOWED_WORKSPACES`); empty for all. */
  readonly allowedWorkspaces: readonly InstallationId[];
  readonly jobs: Jobs;
  readonly system: System;
  readonly log: Log;
}

export type InstallOutcome =
  | { readonly kind: 'installed'; readonly installation: Installation }
  | { readonly kind: 'not_allowed'; readonly name: string };

/** How an install ended after Slack sent the user back. `error`: Slack's code, or the name of what failed. */
export type InstallEnd =
  | InstallOutcome
  | { readonly kind: 'denied' | 'state_unusable' | 'unsaved' }
  | { readonly kind: 'refused'; readonly error: string };

/**
 * Stores an install, or refuses it if `ALLOWED_WORKSPACES` doesn't have it. Then nothing is stored, and the new token is revoked
 * unless an earlier install is stored, which may have the same token.
 */
export async function install(given: NewInstallation, app: InstallationPorts): Promise<InstallOutcome> {
  const { installationStore, tokenService, log } = app;
  if (isAllowed(given, app)) {
    const installation = await installationStore.install(given);
    log.info('installed', { installation: given.id, generation: installation.generation });
    return { kind: 'installed', installation };
  }
  log.warn('an install was refused: its ID is not in ALLOWED_WORKSPACES', { installation: given.id });
  if (!(await installationStore.find(given.id))) await tokenService.revoke(given.tokens.bot);
  return { kind: 'not_allowed', name: given.name };
}

/** Whether the operator lets this workspace or organization use the app (`ALLOWED_WORKSPACES`). */
function isAllowed({ id, enterpriseId }: NewInstallation, { allowedWorkspaces }: InstallationPorts): boolean {
  if (allowedWorkspaces.length === 0) return true;
  return (
    allowedWorkspaces.includes(id) || (enterpriseId !== undefined && allowedWorkspaces.includes(enterpriseId))
  );
}

/** What an error from Slack may mean: the token is invalid, or the workspace left the organization's installation. */
export type Suspicion = 'token_refused' | 'team_access_not_granted';

export type InstalledWorkspaces = ReturnType<typeof createInstalledWorkspaces>;

/** Finds the workspaces in which the app was installed by OAuth. Keeps nothing in memory, so that every process sees changes at once. */
export function createInstalledWorkspaces(app: InstallationPorts) {
  const findAllowed = async (workspaceId: WorkspaceId): Promise<Installation | undefined> => {
    const installation = await app.installationStore.findServing(workspaceId);
    return installation && isAllowed(installation, app) ? installation : undefined;
  };
  return {
    isServed: async (workspaceId: WorkspaceId) => (await findAllowed(workspaceId)) !== undefined,
    needsInstall: async (workspaceId: WorkspaceId) =>
      (await findAllowed(workspaceId))?.isRefreshRefused ?? false,
    /** Finds the token for a workspace; with `teamId` if the token is for a whole organization. */
    find: async (workspaceId: WorkspaceId) => {
      const found = await findAllowed(workspaceId);
      // Tokens are renewed ahead of time: only after a stop of hours is one expired when it is needed.
      const mustRenew = found !== undefined && isExpired(found, app);
      if (mustRenew) await renewNow(found.id, app);
      const installation = mustRenew ? await findAllowed(workspaceId) : found;
      if (!installation) return undefined;
      const { tokens, isOrg } = installation;
      return isOrg ? { token: tokens.bot, teamId: workspaceId } : { token: tokens.bot };
    },
    /** Decides whether a request is handled. The first one from a workspace of an organization starts serving it. */
    admit: (place: RequestPlace) => admit(place, app),
    /** Checks an installation after Slack has refused a call for the workspace, and stores what it finds. */
    suspect: (workspaceId: WorkspaceId, error: Suspicion) => suspect(workspaceId, error, app),
  };
}

function isExpired({ tokens, isRefreshRefused }: Installation, { system }: InstallationPorts): boolean {
  return !isRefreshRefused && tokens.rotation !== undefined && tokens.rotation.expiresAt <= system.now();
}

const RENEWAL_LOOKS = 10;
const RENEWAL_LOOK_MS = 100;

/** Renews an expired token by its job, or waits for the process that is doing so, but no longer than a form can wait. */
async function renewNow(id: InstallationId, app: InstallationPorts): Promise<void> {
  const { installationStore, jobs, system, log } = app;
  const renew = async () => {
    for (let looks = 0; looks < RENEWAL_LOOKS && !(await jobs.runNow(INSTALLATION, id)); looks++) {
      await system.sleep(RENEWAL_LOOK_MS);
      const installation = await installationStore.find(id);
      if (!installation || !isExpired(installation, app)) return;
    }
  };
  const renewal = renew().catch((error: unknown) =>
    log.error('a token could not be renewed', { installation: id, ...describeDefect(error) }),
  );
  await withTimeout(renewal, system);
}

async function admit({ workspaceId, orgId }: RequestPlace, app: InstallationPorts): Promise<Admission> {
  if (workspaceId === orgId || workspaceId === '') return 'no_workspace';
  const serving = await app.installationStore.findServing(workspaceId);
  if (orgId !== undefined && serving?.id !== orgId) return introduce(workspaceId, orgId, app);
  if (!serving) return 'not_installed';
  if (!isAllowed(serving, app)) return 'not_allowed';
  return (await isRefused(serving, app)) ? 'refused' : 'served';
}

/** Whether Slack refuses the installation's token. Tests it again if it was refused before. */
async function isRefused(installation: Installation, app: InstallationPorts): Promise<boolean> {
  const { installationStore, tokenService, system } = app;
  const { tokens, isRefreshRefused, isTokenRefused } = installation;
  if (isRefreshRefused && tokens.rotation && tokens.rotation.expiresAt <= system.now()) return true;
  if (!isTokenRefused) return false;
  // The refusal may have passed: an IP address that wasn't allowed, or a workspace that was locked for a while.
  if ((await tokenService.test(tokens.bot)) !== 'works') return true;
  await installationStore.markTokenRefused(installation, false);
  return false;
}

async function suspect(workspaceId: WorkspaceId, error: Suspicion, app: InstallationPorts): Promise<void> {
  const { installationStore, tokenService, log } = app;
  const installation = await installationStore.findServing(workspaceId);
  if (!installation) return;
  const { id, isOrg, isTokenRefused, tokens } = installation;
  if (error === 'team_access_not_granted') {
    if (isOrg) await installationStore.stopServing(workspaceId, id);
  } else if (!isTokenRefused && (await tokenService.test(tokens.bot)) === 'revoked') {
    log.warn('Slack no longer accepts a token', { installation: id });
    await installationStore.markTokenRefused(installation, true);
  }
}

/** Starts serving a workspace of an organization, if Slack says that the organization has given it the app. */
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
  if (!(await installationStore.serve(workspace, installation, system.now()))) return 'unknown';
  log.info('serving a workspace of an organization', { workspace: workspaceId, installation: orgId });
  return 'served';
}

export interface BotTokens {
  readonly bot: Secret<string>;
  /** With token rotation: the bot token's end (epoch milliseconds), and the single-use token that renews it. */
  readonly rotation?: { readonly expiresAt: number; readonly refreshToken: Secret<string> };
}

export interface NewInstallation {
  /** The workspace, or the organization if the app is installed for all of it. */
  readonly id: InstallationId;
  readonly isOrg: boolean;
  /** The Enterprise Grid organization that the workspace belongs to. */
  readonly enterpriseId?: InstallationId;
  readonly name: string;
  readonly installedBy: UserId;
  readonly installedAt: number;
  readonly tokens: BotTokens;
}

export interface Installation extends NewInstallation {
  /** Increments with every install, not when tokens are renewed. */
  readonly generation: number;
  /** Slack has permanently rejected the refresh token, so the bot token can't be renewed; only another install helps. */
  readonly isRefreshRefused: boolean;
  /** Slack said that the bot token is revoked when it was last tested. Reset once a token works. */
  readonly isTokenRefused: boolean;
  /** When an event said that the app was uninstalled, in epoch milliseconds, until that is confirmed or disproved. */
  readonly revokedAt?: number | undefined;
}

export interface ServedWorkspace {
  readonly id: WorkspaceId;
  readonly name: string;
}

/** Largest assumed difference between our clock and Slack's. */
const CLOCKS_APART_MS = 5 * MINUTE_MS;

/**
 * Handles an event that the app was uninstalled or its token revoked. Stores it, so that a crash doesn't lose it, and has the
 * installation's job check it, since events come late and more than once.
 */
export async function noteRevocation(
  ids: readonly InstallationId[],
  revokedAt: number,
  { installationStore, jobs }: InstallationPorts,
): Promise<void> {
  for (const id of ids) await installationStore.noteRevocation(id, revokedAt);
  // A check that fails is logged and stays due.
  for (const id of ids) await jobs.runNow(INSTALLATION, id).catch(() => undefined);
}

/**
 * What the job of an installation does: renews its token if that ends soon, and checks an uninstall that Slack has not confirmed yet.
 * Only the owner of the job does either: a refresh token works once, and Slack may send an event about the token that it replaces.
 * Returns when the job is due again; undefined when nothing is left to do.
 * @throws if Slack didn't say what has to be known
 */
export async function watchInstallation(
  id: InstallationId,
  app: InstallationPorts,
): Promise<number | undefined> {
  const isRenewed = await renewToken(id, app);
  const isChecked = await checkRevocation(id, app);
  if (!isRenewed || !isChecked) throw new Error('Slack has not answered yet');
  const installation = await app.installationStore.find(id);
  return installation && !installation.isRefreshRefused ? renewalDueAt(installation) : undefined;
}

/** Renews a token. If the answer to a refresh token gets lost, only another install helps (docs/slack.md). False if it isn't known. */
async function renewToken(id: InstallationId, app: InstallationPorts): Promise<boolean> {
  const { installationStore, tokenService, system, log } = app;
  const installation = await installationStore.find(id);
  const rotation = installation?.tokens.rotation;
  if (!rotation || installation.isRefreshRefused) return true;
  if ((renewalDueAt(installation) ?? 0) > system.now()) return true;
  const outcome = await tokenService.refresh(rotation.refreshToken);
  if (outcome.kind === 'renewed') {
    await installationStore.replaceTokens(installation, outcome.tokens);
    return true;
  }
  const isFinal = outcome.kind === 'refused';
  log.error('Slack did not renew a token', { installation: id, error: outcome.error, isFinal });
  if (isFinal) await installationStore.markRefreshRefused(installation);
  return isFinal;
}

/**
 * Erases the installation if Slack says that the stored token is revoked, and drops the event if the token works. Any other
 * answer proves nothing: false, and the event stays.
 */
async function checkRevocation(id: InstallationId, app: InstallationPorts): Promise<boolean> {
  const { installationStore, tokenService, log } = app;
  const installation = await installationStore.find(id);
  if (installation?.revokedAt === undefined) return true;
  const { revokedAt, installedAt, tokens } = installation;
  const isEarlier = revokedAt + CLOCKS_APART_MS < installedAt;
  const verdict = isEarlier ? 'works' : await tokenService.test(tokens.bot);
  if (verdict === 'unknown') return false;
  if (verdict === 'works') {
    log.info('an event about an earlier install was ignored', { installation: id });
    await installationStore.dropRevocation(id, revokedAt);
    return true;
  }
  const isErased = await installationStore.erase(installation);
  if (isErased) log.warn('uninstalled: the stored data was erased', { installation: id });
  return isErased;
}
