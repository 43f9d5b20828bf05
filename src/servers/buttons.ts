import { z } from 'zod';
import { defineButton, defineChoice } from '../slack/kit/button.ts';
import { FOLLOWED_ACTIONS } from './follow.ts';

/** `on`: the button stands on the server's card, which the press updates. */
const server = z.object({ id: z.number().int(), on: z.literal('card').exactOptional() });

/** `sure`: the user was asked about this server and this action. `typed`: the server could not be looked up before. */
const powered = z.union([
  server.extend({ sure: z.literal(true).exactOptional() }),
  z.object({ typed: z.string() }),
]);

export const powerButton = {
  start: defineButton('start', powered),
  stop: defineButton('stop', powered),
  reboot: defineButton('reboot', powered),
} as const;
/** A list of servers that the user has read: their IDs and labels, never the pattern that found them. */
const several = z.object({
  id: z.string(),
  at: z.number(),
  servers: z.array(z.tuple([z.number().int(), z.string()])).max(20),
});

export const severalButton = {
  start: defineButton('start_several', several),
  stop: defineButton('stop_several', several),
  reboot: defineButton('reboot_several', several),
} as const;
/** The servers of an action and, in a channel's message, the user. */
const checked = z.object({
  act: z.enum(FOLLOWED_ACTIONS),
  servers: z
    .array(z.object({ id: z.number().int(), label: z.string(), until: z.number().exactOptional() }))
    .max(20),
  by: z.string().exactOptional(),
  /** Who approved a delete. */
  approvedBy: z.string().exactOptional(),
  /** The act is proven not to have been carried out. */
  isFailed: z.literal(true).exactOptional(),
});
export type Checked = z.output<typeof checked>;
/** Replaces what the message said about the servers with their current state. */
export const checkButton = defineButton('check_state', checked);
export const deleteButton = defineButton('delete', server);
/** Shows a server; on its card, loads it again. */
export const showButton = defineButton('show', server);
export const protectButton = defineButton('protect', server);
export const unprotectButton = defineButton('unprotect', server);

const listPage = z.object({ filter: z.string(), page: z.number().int().min(0) });
/** Two ids: Slack refuses two buttons with the same id in one row. */
export const listPages = {
  back: defineButton('list_back', listPage),
  further: defineButton('list_page', listPage),
} as const;
/** Opens the list from the control panel. */
export const listButton = defineButton('list', z.object({}));
/** Shows the requests that the user may approve, from the control panel. */
export const approvalsButton = defineButton('approvals', z.object({}));

/** Shows the card of a server in the modal of a shortcut: one that a message mentions, or any other. */
export const matchButton = defineButton('manage_match', z.object({ id: z.number().int() }));
export const findChoice = defineChoice('find_server');

/** Picks the server whose card is shown. */
export const manageChoice = defineChoice('manage');
