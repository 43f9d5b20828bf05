import type { UserId } from '../../domain/ids.ts';
import type { Server } from '../../domain/server.ts';
import { isNoteOf, type ServerNote } from '../../domain/server-note.ts';
import { defineUseCase } from '../authorize/use-case.ts';
import { getServer, type ServerRef, subjectOf } from './find-server.ts';

interface NoteInput {
  readonly ref: ServerRef;
  /** Absent: stays as it is. Empty: is removed. */
  readonly text?: string | undefined;
  readonly contact?: UserId | '' | undefined;
}

/** Notes a text and a contact on a server, and removes the note when both are empty. */
export const noteServer = defineUseCase({
  name: 'note',
  needs: 'operator',
  effect: 'changes',
  subject: ({ ref }) => subjectOf(ref),
  run: async ({ ref, ...change }: NoteInput, context): Promise<Server> => {
    const server = await getServer(ref, context);
    const { actor, app } = context;
    const { workspaceId, userId: notedBy } = actor;
    const found = await app.serverNotes.find(workspaceId, server.id);
    const before: Partial<ServerNote> = found && isNoteOf(found, server) ? found : {};
    const text = change.text ?? before.text ?? '';
    const contact = (change.contact ?? before.contact) || undefined;
    if (text === '' && contact === undefined) {
      await app.serverNotes.remove(workspaceId, server.id);
      return server;
    }
    const noted = { label: server.label, text, notedBy, notedAt: app.system.now() };
    await app.serverNotes.put(workspaceId, {
      serverId: server.id,
      ...noted,
      contact,
    });
    return server;
  },
});
