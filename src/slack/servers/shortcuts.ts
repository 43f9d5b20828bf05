import { chooseServer } from '../../app/servers/choose-server.ts';
import { findMentioned } from '../../app/servers/find-mentioned.ts';
import { showServer } from '../../app/servers/show-server.ts';
import type { ServerId } from '../../domain/ids.ts';
import type { ActionHandler } from '../kit/button.ts';
import type { Suggestions } from '../kit/command.ts';
import { LIMITS } from '../kit/limits.ts';
import { serverOption } from '../kit/server-option.ts';
import type { Shortcut } from '../kit/shortcut.ts';
import type { SlackRequest } from '../transport/request.ts';
import { findChoice, matchButton } from './buttons.ts';
import { collectParts } from './message-parts.ts';
import { serverCard } from './server-card.ts';
import { describeAge, findView, matchesView, mentionedView } from './shortcut-views.ts';

/** On any message: shows the server that it mentions, or those. It never does anything to a server by itself. */
const manageServer: Shortcut = {
  id: 'manage_server',
  type: 'message',
  name: 'Manage server…',
  title: 'Manage server',
  needs: findMentioned,
  load: async (message, request, origin) => {
    const mentioned = await request.execute(findMentioned, { parts: collectParts(message) });
    const servers = mentioned.map(({ server }) => server);
    const now = request.now();
    const age = describeAge(message, now);
    const [only] = servers;
    if (!only || servers.length > 1) return matchesView(servers, age, origin, now);
    const card = await request.execute(showServer, { ref: { id: only.id } });
    return mentionedView(card, age, origin, now);
  },
};

/** From anywhere: finds a server, those first that the user has used recently. */
const findServer: Shortcut = {
  id: 'servers',
  type: 'global',
  name: 'Servers',
  title: 'Servers',
  needs: chooseServer.show,
  load: async (_message, request, origin) =>
    findView(await request.execute(chooseServer.show, {}), origin, request.now()),
};

/** The app's shortcuts, as the manifest lists them. */
export const shortcuts: readonly Shortcut[] = [manageServer, findServer];

async function showInCard(id: ServerId, request: SlackRequest): Promise<void> {
  const card = await request.execute(showServer, { ref: { id } });
  await request.reply.replace(serverCard(card, request.now()));
}

/** The buttons and the menu of these modals. */
export const shortcutActions: readonly ActionHandler[] = [
  matchButton.on(({ id }, request) => showInCard(id, request)),
  findChoice.on((id, request) => showInCard(Number(id), request)),
];

export const findSuggestions: Suggestions = {
  id: findChoice.id,
  find: async (filter, request) =>
    (await request.execute(chooseServer.show, { filter })).slice(0, LIMITS.options).map(serverOption),
};
