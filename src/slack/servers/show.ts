import { showServer } from '../../app/servers/show-server.ts';
import type { ServerId } from '../../domain/ids.ts';
import { defineCommand, parseServerName } from '../kit/command.ts';
import type { SlackRequest } from '../transport/request.ts';
import { sendWaiting } from '../transport/waiting.ts';
import { showButton } from './buttons.ts';
import { checkState } from './check-state.ts';
import { chooseSuggestions, offerServers, pickChoice } from './pick-server.ts';
import { protectActions } from './protect.ts';
import { serverCard } from './server-card.ts';
import { findSuggestions, shortcutActions } from './shortcuts.ts';

export const show = defineCommand({
  name: 'show',
  usage: 'show [server]',
  summary: 'Show a server with its buttons',
  needs: 'viewer',
  parse: parseServerName,
  run: (input, request) =>
    offerServers('show', input, request, async (ref) => {
      const card = await request.execute(showServer, { ref, onWait: sendWaiting(request) });
      await request.reply.send(serverCard(card, request.now()));
    }),
  actions: [
    showButton.on(({ id, on }, request) => (on ? reloadCard(id, request) : showById(id, request))),
    pickChoice.show.on((id, request) => showById(Number(id), request)),
    checkState,
    ...protectActions,
    ...shortcutActions,
  ],
  suggestions: [chooseSuggestions('show'), findSuggestions],
});

/** Shows the server that a button or a menu is for. */
export async function showById(id: ServerId, request: SlackRequest): Promise<void> {
  const card = await request.execute(showServer, { ref: { id } });
  await request.reply.send(serverCard(card, request.now()));
}

/** Shows the server's present state in the card that was pressed on. */
async function reloadCard(id: ServerId, request: SlackRequest): Promise<void> {
  const card = await request.execute(showServer, { ref: { id }, isFresh: true });
  await request.reply.replace(serverCard(card, request.now()));
}
