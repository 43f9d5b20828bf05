import type { ServerId, UserId } from './ids.ts';

/** What a team noted about a server; the hosting API has no field for it. */
export interface ServerNote {
  readonly serverId: ServerId;
  /** The label that the server had: another account may have a server with the same ID. */
  readonly label: string;
  /** May be empty if there is a contact. */
  readonly text: string;
  /** Who to ask about the server. */
  readonly contact?: UserId;
  readonly notedBy: UserId;
  readonly notedAt: number;
}

/** Longer ones would push the buttons of the server's card off a phone's screen. */
export const MOST_NOTE_LETTERS = 300;

/** Whether the note is about this very server. */
export function isNoteOf(
  note: Pick<ServerNote, 'serverId' | 'label'>,
  server: { readonly id: ServerId; readonly label: string },
): boolean {
  return note.serverId === server.id && note.label === server.label;
}
