/** One row for each day on which a workspace's digest was claimed. */
export interface DigestsTable {
  workspace_id: string;
  /** Like 2026-01-31, in the digest's time zone. */
  day: string;
  /** `live`: posted, and its message is edited. */
  state: 'claimed' | 'quiet' | 'live' | 'closed';
  at: number;
  channel_id: string | null;
  ts: string | null;
  /** JSON; '' before it was posted. */
  content: string;
  sights: string;
  seen_seq: number;
  shown: string;
  /** When the list was read for it; 0 if it could not be. */
  read_at: number;
}

/** The servers that the last digest saw. */
export interface DigestSnapshotsTable {
  workspace_id: string;
  account: string;
  at: number;
  /** JSON. */
  servers: string;
}

/** What users decided about reminders for one month of a server. */
export interface ReminderMarksTable {
  workspace_id: string;
  server_id: number;
  label: string;
  paid_until: number;
  marked_by: string;
  marked_at: number;
  /** '' when the server is left to expire. */
  until_day: string;
}

/** Several renewals that are reviewed and confirmed together. */
export interface RenewalBatchesTable {
  id: string;
  workspace_id: string;
  actor_id: string;
  channel_id: string | null;
  /** JSON. */
  renewals: string;
  state: 'open' | 'confirmed' | 'done';
  /** How many of them were begun. */
  started: number;
  /** When it was opened, or confirmed. */
  at: number;
}
