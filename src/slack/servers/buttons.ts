import { z } from 'zod';
import { defineButton, defineChoice } from '../kit/button.ts';

const server = z.object({ id: z.number().int() });

export const startButton = defineButton('start', server);
export const stopButton = defineButton('stop', server);
export const rebootButton = defineButton('reboot', server);
export const deleteButton = defineButton('delete', server);
export const showButton = defineButton('show', server);

const listPage = z.object({ filter: z.string(), page: z.number().int().min(0) });
/** Two ids: Slack refuses two buttons with the same id in one row. */
export const listPages = {
  back: defineButton('list_back', listPage),
  further: defineButton('list_page', listPage),
} as const;

/** Picks the server whose card is shown. */
export const manageChoice = defineChoice('manage');
