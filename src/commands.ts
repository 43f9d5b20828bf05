import { defineAccess } from './access/access.ts';
import { audit } from './account/audit-screen.ts';
import { connect, disconnect } from './account/connect.ts';
import { settings } from './account/settings.ts';
import { status } from './account/status.ts';
import { defineHelp, getCommand } from './help.ts';
import { showPanel } from './home/panel.ts';
import { catalog } from './purchases/catalog.ts';
import { costs } from './purchases/costs-screen.ts';
import { create } from './purchases/create-form.ts';
import { password } from './purchases/password-screen.ts';
import { renew } from './purchases/renew.ts';
import { reminders } from './reminders/reminders.ts';
import { remove } from './servers/delete.ts';
import { list } from './servers/list.ts';
import { note } from './servers/notes.ts';
import { reboot, start, stop } from './servers/power.ts';
import { show } from './servers/show.ts';
import type { Command } from './slack/kit/command.ts';
import { splitSubcommand } from './slack/kit/typed-words.ts';
import type { SlackRequest } from './slack/request.ts';
import { workflow } from './workflows/workflow.ts';

/** Every subcommand of `/vps`, in the order in which help and the README list them. */
export const commands: readonly Command[] = [
  defineHelp(() => commands),
  list,
  show,
  catalog,
  start,
  stop,
  reboot,
  note,
  create,
  renew,
  reminders,
  remove,
  costs,
  password,
  connect,
  disconnect,
  defineAccess((text, request) => {
    const { name, rest } = splitSubcommand(text);
    return getCommand(name, commands).run(rest, request);
  }),
  settings,
  workflow,
  audit,
  status,
];

/**
 * Runs what was typed after `/vps`, or shows the control panel for nothing.
 * @throws Refusal `unknown_command`, and as the command does
 */
export async function runCommand(text: string, request: SlackRequest): Promise<void> {
  const { name, rest } = splitSubcommand(text);
  if (name === '') await showPanel(request);
  else await getCommand(name, commands).run(rest, request);
}
