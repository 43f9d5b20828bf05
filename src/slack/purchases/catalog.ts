import { readCatalog } from '../../app/purchases/read-catalog.ts';
import { defineCommand, parseNothing } from '../kit/command.ts';
import type { SlackRequest } from '../transport/request.ts';
import { sendWaiting } from '../transport/waiting.ts';
import { catalogPages } from './buttons.ts';
import { catalogMessage } from './catalog-message.ts';

export const catalog = defineCommand({
  name: 'catalog',
  usage: 'catalog',
  summary: 'Show plans, prices, locations and images',
  needs: 'viewer',
  parse: parseNothing,
  run: async (_input, request) => {
    const found = await request.execute(readCatalog, { onWait: sendWaiting(request) });
    await request.reply.send(catalogMessage(found, request.currency, 0));
  },
  actions: [catalogPages.back.on(turn), catalogPages.further.on(turn)],
});

async function turn({ page }: { page: number }, request: SlackRequest): Promise<void> {
  const found = await request.execute(readCatalog, {});
  await request.reply.replace(catalogMessage(found, request.currency, page));
}
