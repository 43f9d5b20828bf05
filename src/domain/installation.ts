import type { InstallationId, UserId, WorkspaceId } from './ids.ts';
import type { Secret } from './secret.ts';

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
