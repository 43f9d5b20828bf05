import type { Selectable } from 'kysely';

/** One row for each workspace or organization in which the app was ever installed by OAuth. */
export interface InstallationsTable {
  /** The team, or the enterprise when it is installed for the whole organization. */
  id: string;
  is_org: number;
  /** The organization that the workspace belongs to. */
  enterprise_id: string | null;
  name: string;
  /** Counts the installs: tokens of an earlier one are never mistaken for this one's. */
  generation: number;
  installed_by: string;
  installed_at: number;
  /** Separated by commas. */
  scopes: string;
  /** JSON of the tokens, sealed; NULL when the app was uninstalled. */
  sealed: string | null;
  /** When the bot token expires; 0 without token rotation. */
  expires_at: number;
  /** Slack has permanently rejected the refresh token; only another install helps. */
  is_refresh_refused: number;
  /** Slack refused the bot token itself when it was last used. */
  is_token_refused: number;
  /** When an event said that it was uninstalled, until that is confirmed or disproved; otherwise 0. */
  revoked_at: number;
  /** When Slack was last asked again whether it was uninstalled; 0 before the first time. */
  revocation_checked_at: number;
}

/** Which installation serves a workspace: its own, or that of its organization. */
export interface InstallationWorkspacesTable {
  workspace_id: string;
  installation_id: string;
}

export type InstallationRow = Selectable<InstallationsTable>;
