import { readCatalog } from '../../app/purchases/read-catalog.ts';
import { catalogTurns } from '../buttons.ts';
import { defineCommand, parseNothing } from '../kit/command.ts';
import type { SlackRequest } from '../transport/request.ts';
import { tellWaiting } from '../transport/waiting.ts';
import { catalogMessage } from './catalog-message.ts';

export const catalog = defineCommand({
  name: 'catalog',
  usage: 'catalog',
  summary: 'Shows the plans with their prices, the locations and the images',
  needs: 'viewer',
  parse: parseNothing,
  run: async (_input, request) => {
    const found = await request.enter(readCatalog, { onWait: tellWaiting(request) });
    await request.reply.tell(catalogMessage(found, request.bench.currency, 0));
  },
  actions: [catalogTurns.back.on(turn), catalogTurns.further.on(turn)],
});

async function turn({ page }: { page: number }, request: SlackRequest): Promise<void> {
  const found = await request.enter(readCatalog, {});
  await request.reply.replace(catalogMessage(found, request.bench.currency, page));
}
