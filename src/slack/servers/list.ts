import { chooseServer } from '../../app/servers/choose-server.ts';
import { listServers } from '../../app/servers/list-servers.ts';
import { defineCommand } from '../kit/command.ts';
import { LIMITS } from '../kit/limits.ts';
import { serverOption } from '../kit/server-option.ts';
import { mention } from '../kit/text.ts';
import { findUserId } from '../kit/typed-words.ts';
import type { SlackRequest } from '../transport/request.ts';
import { sendWaiting } from '../transport/waiting.ts';
import { listButton, listPages, manageChoice } from './buttons.ts';
import { panelActions } from './panel.ts';
import { serverList } from './server-list.ts';
import { showById } from './show.ts';

export const list = defineCommand({
  name: 'list',
  usage: 'list [filter]',
  summary: 'List servers and manage one',
  needs: 'viewer',
  parse: ({ words }) => ({ filter: words.map(plainMention).join(' ') }),
  run: async ({ filter }, request) => {
    const found = await request.execute(listServers, { filter, onWait: sendWaiting(request) });
    await request.reply.send(serverList(found, filter, 0, request.now()));
  },
  actions: [
    ...panelActions,
    listPages.back.on(showPage),
    listPages.further.on(showPage),
    listButton.on(async (_value, request) => {
      const found = await request.execute(listServers, { filter: '' });
      await request.reply.send(serverList(found, '', 0, request.now()));
    }),
    manageChoice.on((id, request) => showById(Number(id), request)),
  ],
  suggestions: [
    {
      id: manageChoice.id,
      find: async (typed, request) => {
        const servers = await request.execute(chooseServer.show, { filter: typed });
        return servers.slice(0, LIMITS.options).map(serverOption);
      },
    },
  ],
});

async function showPage(
  { filter, page }: { filter: string; page: number },
  request: SlackRequest,
): Promise<void> {
  const found = await request.execute(listServers, { filter });
  await request.reply.replace(serverList(found, filter, page, request.now()));
}

/** As the contact of a note is searched: without the name that Slack adds. */
function plainMention(word: string): string {
  const userId = findUserId(word);
  return userId === undefined ? word : mention(userId);
}
