export interface HomesTable {
  workspace_id: string;
  user_id: string;
  channel_id: string;
  page: number;
  opened_at: number;
}
