import { commands } from './commands.ts';
import { getCommand } from './help.ts';
import { splitSubcommand } from './kit/typed-words.ts';
import { showPanel } from './servers/panel.ts';
import type { SlackRequest } from './transport/request.ts';

/**
 * Runs what was typed after `/vps`; bare, it shows the control panel.
 * @throws Refusal `unknown_command` and what the command throws
 */
export async function runCommand(text: string, request: SlackRequest): Promise<void> {
  const { name, rest } = splitSubcommand(text);
  if (name === '') await showPanel(request);
  else await getCommand(name, commands).run(rest, request);
}
