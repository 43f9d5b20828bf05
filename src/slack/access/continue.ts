import { findGrantedCommand } from '../../app/access/continue-command.ts';
import type { ActionHandler } from '../kit/button.ts';
import type { SlackRequest } from '../transport/request.ts';
import { continueButton } from './buttons.ts';

/** Runs what was typed after `/vps`. */
export type RunTyped = (text: string, request: SlackRequest) => Promise<void>;

/**
 * The button with which a user goes on once a role was granted. Slack has asked them before it sends the press; the command
 * then checks their permission and asks what it always asks, such as **Create and pay** or the label of a server to delete.
 */
export function defineContinue(run: RunTyped): ActionHandler {
  return continueButton.on(async ({ id }, request) => {
    const command = await request.execute(findGrantedCommand, { id });
    await run(command, request);
  });
}
