import type { Selectable } from 'kysely';

export interface ProtectedServersTable {
  workspace_id: string;
  server_id: number;
  protected_by: string;
  protected_at: number;
}

export interface ServerNotesTable {
  workspace_id: string;
  server_id: number;
  label: string;
  note: string;
  contact: string | null;
  noted_by: string;
  noted_at: number;
}

export type ServerNoteRow = Selectable<ServerNotesTable>;
