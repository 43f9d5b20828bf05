import { describeForAudit } from '../access/grants.ts';
import type { AuditEntry, AuditSubject } from '../core/audit-entry.ts';
import type { Installations } from '../core/directory.ts';
import { makeAuditEntry } from '../core/entry.ts';
import { describeDefect } from '../core/errors.ts';
import type { InstallationId, UserId, WorkspaceId } from '../core/ids.ts';
import { type Locks, withTimeout } from '../core/locks.ts';
import { THE_APP } from '../core/roles.ts';
import type { Secret } from '../core/secret.ts';
import type { Log } from '../log.ts';
import type { System } from '../system.ts';

/** Makes the audit entries of an install in one workspace; `owner` became an owner by it. */
export type AuditOfInstall = (workspaceId: WorkspaceId, owner: UserId | undefined) => readonly AuditEntry[];

/** Makes the audit entries of what is erased in one workspace: of which paid servers it had the root passwords. */
export type AuditOfErasure = (
  workspaceId: WorkspaceId,
  passwords: readonly AuditSubject[],
) => readonly AuditEntry[];

/** Epoch milliseconds. */
interface ReportedUninstall {
  readonly id: InstallationId;
  readonly revokedAt: number;
  readonly checkedAt: number;
}

/** Where the app is installed by OAuth. Tokens are sealed, bound to their row and to the install that brought them. */
export interface InstallationStore {
  /** Undefined where the app is not installed, or not any more. @throws Refusal `key_unreadable` */
  find(id: InstallationId): Promise<Installation | undefined>;
  /** The installation that serves this workspace. @throws Refusal `key_unreadable` */
  findServing(workspaceId: WorkspaceId): Promise<Installation | undefined>;
  /**
   * Stores an install, over an earlier one of the same place: its tokens are replaced, and all else stays. One
   * transaction with its audit. Who installed the app where nobody is an owner yet, and no hosting account is connected,
   * becomes an owner there.
   */
  install(installation: NewInstallation, auditOf: AuditOfInstall): Promise<Installation>;
  /**
   * Has the installation of an organization serve one of its workspaces, which is audited there as an install. False, and
   * nothing is stored, if the app was uninstalled or installed again since.
   */
  serve(workspace: ServedWorkspace, by: Installation, at: number, auditOf: AuditOfInstall): Promise<boolean>;
  /** The workspace does not belong to the installation any more. */
  stopServing(workspaceId: WorkspaceId, installationId: InstallationId): Promise<void>;
  /** False, and nothing is changed, if the tokens were replaced since. */
  replaceTokens(was: Installation, tokens: BotTokens): Promise<boolean>;
  /** Slack will never take the refresh token. Nothing is changed if the tokens were replaced since. */
  markRefreshRefused(was: Installation): Promise<void>;
  markTokenRefused(was: Installation, isRefused: boolean): Promise<void>;
  /** Remembers that an event said that it was uninstalled at that time, until `erase` or `dropRevocation`. */
  noteRevocation(id: InstallationId, at: number): Promise<void>;
  /** The installations whose token can be renewed and expires before that time; the soonest first. */
  listExpiring(before: number): Promise<readonly InstallationId[]>;
  /** Uninstalls that events have reported, with when they were last checked (0: never). */
  listRevocations(): Promise<readonly ReportedUninstall[]>;
  noteRevocationCheck(id: InstallationId, at: number): Promise<void>;
  /** The event was about an earlier install. */
  dropRevocation(id: InstallationId, revokedAt: number): Promise<void>;
  /**
   * Erases the tokens, and in each workspace that it served the API key, the root passwords, the roles and everything
   * else that could be used there, in one transaction with the audit. Operations, settings and the audit stay. Money
   * effect: none; nothing more can be paid with the key. False if the app was installed again since, or its
   * token renewed.
   */
  erase(was: Installation, auditOf: AuditOfErasure): Promise<boolean>;
}

/** What Slack says about a token. `revoked` only where it says just that; `unknown` for every other error. */
export type TokenVerdict = 'works' | 'revoked' | 'unknown';

/** The outcome of a refresh. `refused`: this refresh token will never work. */
export type RefreshOutcome =
  | { readonly kind: 'renewed'; readonly tokens: BotTokens }
  | { readonly kind: 'refused' | 'unknown'; readonly error: string };

/** What Slack is asked about tokens. None of it throws. */
export interface TokenService {
  test(token: Secret<string>): Promise<TokenVerdict>;
  refresh(refreshToken: Secret<string>): Promise<RefreshOutcome>;
  revoke(token: Secret<string>): Promise<void>;
  /** The workspaces that a token of an organization is for; undefined when Slack does not say. */
  listWorkspaces(token: Secret<string>): Promise<readonly ServedWorkspace[] | undefined>;
}

/** Where a request comes from, as Slack says in it. */
export interface RequestPlace {
  readonly workspaceId: WorkspaceId;
  /** Only where the app was installed for the whole organization. */
  readonly orgId?: InstallationId;
}

/**
 * Whether requests from there are handled. `refused`: Slack does not accept the app's token any more. `unknown`: Slack did
 * not say whether the organization has given the app to the workspace. `no_workspace`: nor which workspace it is.
 */
export type Admission = 'served' | 'not_installed' | 'not_allowed' | 'refused' | 'unknown' | 'no_workspace';

/** What the use cases of installations need from outside. */
export interface InstallationPorts {
  readonly installationStore: InstallationStore;
  readonly tokenService: TokenService;
  /** Teams and enterprises (`ALLOWED_WORKSPACES`); empty for all. */
  readonly allowedWorkspaces: readonly InstallationId[];
  readonly locks: Locks;
  readonly system: System;
  readonly log: Log;
}

/** What became of an install that a user has allowed in Slack. */
export type InstallOutcome =
  | { readonly kind: 'installed'; readonly installation: Installation }
  | { readonly kind: 'not_allowed'; readonly name: string };

/** How an install ended that came back from Slack. `error`: Slack's code, or the name of what failed. */
export type InstallEnd =
  | InstallOutcome
  | { readonly kind: 'denied' | 'state_unusable' | 'unsaved' }
  | { readonly kind: 'refused'; readonly error: string };

/**
 * Stores an install, or refuses it where the operator doesn't allow it: then nothing is stored, and the token that Slack
 * has just issued is given back.
 */
export async function install(given: NewInstallation, app: InstallationPorts): Promise<InstallOutcome> {
  const { installationStore, tokenService, log } = app;
  if (isAllowed(given, app)) {
    const auditOf = auditOfInstall(given.installedBy, app);
    const installation = await installationStore.install(given, auditOf);
    log.info('installed', { installation: given.id, generation: installation.generation });
    return { kind: 'installed', installation };
  }
  log.warn('an install was refused: it is not in ALLOWED_WORKSPACES', { installation: given.id });
  // One that was allowed once may have the same token: what is stored of it is not given up by the way.
  if (!(await installationStore.find(given.id))) await tokenService.revoke(given.tokens.bot);
  return { kind: 'not_allowed', name: given.name };
}

/** Whether the operator lets this workspace or organization use the app (`ALLOWED_WORKSPACES`). */
function isAllowed(
  { id, enterpriseId }: Pick<NewInstallation, 'id' | 'enterpriseId'>,
  { allowedWorkspaces }: Pick<InstallationPorts, 'allowedWorkspaces'>,
): boolean {
  if (allowedWorkspaces.length === 0) return true;
  return (
    allowedWorkspaces.includes(id) || (enterpriseId !== undefined && allowedWorkspaces.includes(enterpriseId))
  );
}

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

/**
 * Nothing is kept in memory: what one process learns counts in all of them, and an uninstall at once. `renew` renews a
 * token that is about to end.
 */
export function createInstalledWorkspaces(
  app: InstallationPorts,
  renew: (id: InstallationId) => Promise<void>,
): InstalledWorkspaces {
  const renewShared = shareRenewals(renew, app);
  const findAllowed = async (workspaceId: WorkspaceId): Promise<Installation | undefined> => {
    const installation = await app.installationStore.findServing(workspaceId);
    return installation && isAllowed(installation, app) ? installation : undefined;
  };
  return {
    isServed: async (workspaceId) => (await findAllowed(workspaceId)) !== undefined,
    needsInstall: async (workspaceId) => (await findAllowed(workspaceId))?.isRefreshRefused ?? false,
    findToken: async (workspaceId) => {
      const found = await findAllowed(workspaceId);
      // Tokens are renewed ahead of time: only after a stop of hours is one expired when it is needed.
      const mustRenew = found !== undefined && isExpired(found, app);
      if (mustRenew) await renewShared(found.id);
      const installation = mustRenew ? await findAllowed(workspaceId) : found;
      if (!installation) return undefined;
      const { tokens, isOrg } = installation;
      return isOrg ? { token: tokens.bot, teamId: workspaceId } : { token: tokens.bot };
    },
    isOfOrganization: async (workspaceId) => (await findAllowed(workspaceId))?.isOrg ?? false,
    admit: (place) => admit(place, app),
    suspect: (workspaceId, error) => suspect(workspaceId, error, app),
  };
}

function isExpired({ tokens, isRefreshRefused }: Installation, { system }: InstallationPorts): boolean {
  return tokens.rotation !== undefined && !isRefreshRefused && tokens.rotation.expiresAt <= system.now();
}

/** Calls for the same token share a renewal, and wait for it no longer than a form can. */
function shareRenewals(renew: (id: InstallationId) => Promise<void>, { system, log }: InstallationPorts) {
  const running = new Map<InstallationId, Promise<void>>();
  return async (id: InstallationId): Promise<void> => {
    const renewal =
      running.get(id) ??
      renew(id)
        .catch((error: unknown) => log.error('a token could not be renewed', describeDefect(error)))
        .finally(() => running.delete(id));
    running.set(id, renewal);
    await withTimeout(renewal, system);
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

/** What the audit says about an install, and about the role that it brings. */
function auditOfInstall(installedBy: UserId, app: { readonly system: System }): AuditOfInstall {
  return (workspaceId, owner) => {
    const common = { workspaceId, actorId: installedBy, surface: 'page', outcome: 'done' } as const;
    const installed = makeAuditEntry(app, { ...common, action: 'install' });
    if (owner === undefined) return [installed];
    const label = describeForAudit({ role: 'owner', pattern: '', subjectId: owner });
    return [installed, makeAuditEntry(app, { ...common, action: 'access_grant', label })];
  };
}

const BY_THE_APP = { actorId: THE_APP, surface: 'background' } as const;

/** What the audit says after an uninstall: which paid servers lost the root password that was held, and that it is over. */
export function auditOfErasure(app: { readonly system: System }): AuditOfErasure {
  return (workspaceId, passwords) => {
    const common = { ...BY_THE_APP, workspaceId, outcome: 'done' } as const;
    return [
      ...passwords.map((subject) =>
        makeAuditEntry(app, { ...common, ...subject, action: 'password_erased' }),
      ),
      makeAuditEntry(app, { ...common, action: 'uninstall' }),
    ];
  };
}

/** What the app calls Slack with. */
export interface BotTokens {
  readonly bot: Secret<string>;
  /** With token rotation: when the bot token expires (epoch milliseconds), and what brings the next one, once. */
  readonly rotation?: { readonly expiresAt: number; readonly refreshToken: Secret<string> };
}

/** What an install through OAuth gives. */
export interface NewInstallation {
  /** The workspace, or the organization when the app is installed for all of it. */
  readonly id: InstallationId;
  readonly isOrg: boolean;
  /** The Enterprise Grid organization that the workspace belongs to. */
  readonly enterpriseId?: InstallationId;
  readonly name: string;
  readonly installedBy: UserId;
  /** Epoch milliseconds. */
  readonly installedAt: number;
  readonly scopes: readonly string[];
  readonly tokens: BotTokens;
}

/** The app as it is installed now. */
export interface Installation extends NewInstallation {
  /** How often the app was installed there: another number, another token. */
  readonly generation: number;
  /** Slack has permanently rejected the refresh token, so the bot token can't be renewed; only another install helps. */
  readonly isRefreshRefused: boolean;
  /** Slack refused the bot token itself when it was last used: it may have been revoked without a word. */
  readonly isTokenRefused: boolean;
}

/** A workspace that an installation serves. */
export interface ServedWorkspace {
  readonly id: WorkspaceId;
  readonly name: string;
}
