import { showServer } from '../../app/servers/show-server.ts';
import { showButton } from '../buttons.ts';
import { defineCommand, parseServerName } from '../command.ts';
import { serverSheet } from '../messages/server-sheet.ts';
import { offerServers, pickChoice } from '../pick-server.ts';
import type { SlackRequest } from '../request.ts';
import { tellWaiting } from '../waiting.ts';

export const show = defineCommand({
  name: 'show',
  usage: 'show <server>',
  summary: 'Shows one server with its buttons and its recent history',
  needs: 'viewer',
  parse: parseServerName,
  run: (input, request) =>
    offerServers('show', request, async () => {
      const sheet = await request.enter(showServer, { ref: input, onWait: tellWaiting(request) });
      await request.reply.tell(serverSheet(sheet, request.bench.services.system.now()));
    }),
  actions: [
    showButton.on(({ id }, request) => showById(id, request)),
    pickChoice.show.on((id, request) => showById(Number(id), request)),
  ],
});

/** Shows the server that a button or a menu stands for. */
export async function showById(id: number, request: SlackRequest): Promise<void> {
  const sheet = await request.enter(showServer, { ref: { id } });
  await request.reply.tell(serverSheet(sheet, request.bench.services.system.now()));
}
