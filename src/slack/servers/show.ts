import { showServer } from '../../app/servers/show-server.ts';
import { showButton } from '../buttons.ts';
import { defineCommand, parseServerName } from '../kit/command.ts';
import type { SlackRequest } from '../transport/request.ts';
import { tellWaiting } from '../transport/waiting.ts';
import { offerServers, pickChoice } from './pick-server.ts';
import { serverSheet } from './server-card.ts';

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
