import type { Server, ServerList } from '../../domain/server.ts';
import { isNoteOf, type ServerNote } from '../../domain/server-note.ts';
import { filterServers } from '../../domain/server-ref.ts';
import { defineUseCase } from '../authorize/use-case.ts';
import type { OnWait } from '../hosting-api.ts';

/** Lists the account's servers that the actor may see and that match the filter, sorted by label. */
export const listServers = defineUseCase({
  name: 'list',
  needs: 'viewer',
  effect: 'reads',
  run: async (
    { filter, onWait }: { filter: string; onWait?: OnWait | undefined },
    context,
  ): Promise<Pick<ServerList, 'servers' | 'extent'>> => {
    const hosting = await context.hosting();
    const { servers, extent } = await hosting.fetchServers({ onWait });
    const seen = servers.filter(({ label }) => context.covers(label));
    const notes = filter === '' ? [] : await context.app.serverNotes.list(context.actor.workspaceId);
    return { servers: filterServers(filter, seen, searchNotes(notes)), extent };
  },
});

/** The words of a server's note, its contact included. */
export function searchNotes(notes: readonly ServerNote[]): (server: Server) => string {
  const byId = new Map(notes.map((note) => [note.serverId, note]));
  return (server) => {
    const note = byId.get(server.id);
    return note && isNoteOf(note, server) ? `${note.text} <@${note.contact ?? ''}>` : '';
  };
}
