import { z } from 'zod';
import { defineButton, defineChoice } from '../kit/button.ts';

const server = z.object({ id: z.number().int() });

/** The power buttons of a server's row on Home, which shows the outcome itself. */
export const homePower = {
  start: defineButton('home_start', server),
  stop: defineButton('home_stop', server),
  reboot: defineButton('home_reboot', server),
} as const;

/** Opens the card of a server above Home. */
export const homeManageButton = defineButton('home_manage', server);
export const homeFindChoice = defineChoice('home_find');

const page = z.object({ page: z.number().int().min(0) });
/** Two ids: Slack refuses two buttons with the same id in one row. */
export const homePages = {
  back: defineButton('home_back', page),
  further: defineButton('home_page', page),
} as const;
export const homeRefreshButton = defineButton('home_refresh', z.object({}));
