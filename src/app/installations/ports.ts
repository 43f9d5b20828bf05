import type { AuditEntry, AuditSubject } from '../../domain/audit-entry.ts';
import type { InstallationId, UserId, WorkspaceId } from '../../domain/ids.ts';
import type { BotTokens, Installation, NewInstallation, ServedWorkspace } from '../../domain/installation.ts';
import type { Secret } from '../../domain/secret.ts';
import type { Log } from '../../log.ts';
import type { System } from '../../system.ts';
import type { Locks } from '../locks.ts';

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
