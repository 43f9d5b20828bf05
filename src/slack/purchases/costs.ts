import { z } from 'zod';
import { readCosts } from '../../app/purchases/read-costs.ts';
import { defineCommand, parseNothing } from '../kit/command.ts';
import { defineForm } from '../kit/form.ts';
import { sendWaiting } from '../transport/waiting.ts';
import { costsCsvButton } from './buttons.ts';
import { CSV_TITLE, costsCsvView } from './costs-csv.ts';
import { costsMessage } from './costs-message.ts';

const csv = defineForm({
  id: 'costs_csv',
  title: CSV_TITLE,
  input: z.object({}),
  needs: readCosts,
  load: async (_input, request) => costsCsvView(await request.execute(readCosts, {}), request.currency),
});

/** `/vps costs`: what servers cost a month as far as it is known, and what was paid here this month. */
export const costs = defineCommand({
  name: 'costs',
  usage: 'costs',
  summary: 'Show monthly costs, as far as they are known',
  needs: 'viewer',
  parse: parseNothing,
  run: async (_input, request) => {
    const found = await request.execute(readCosts, { onWait: sendWaiting(request) });
    await request.reply.send(costsMessage(found, request.currency));
  },
  actions: [costsCsvButton.on((input, request) => csv.open(input, request)), csv.handler],
});
