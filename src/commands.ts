import { defineAccess } from './access/access.ts';
import { audit } from './account/audit.ts';
import { connect, disconnect } from './account/connect.ts';
import { settings } from './account/settings.ts';
import { status } from './account/status.ts';
import { isRefusal } from './core/errors.ts';
import { defineHelp, findCommand, getCommand, unknownCommand } from './help.ts';
import { showPanel } from './home/panel.ts';
import { catalog } from './purchases/catalog.ts';
import { costs } from './purchases/costs-screen.ts';
import { create } from './purchases/create.ts';
import { password } from './purchases/passwords.ts';
import { renew } from './purchases/renew.ts';
import { reminders } from './reminders/reminders.ts';
import { show } from './servers/card.ts';
import { remove } from './servers/delete.ts';
import { list } from './servers/list.ts';
import { note } from './servers/notes.ts';
import { reboot, start, stop } from './servers/power.ts';
import { textMessage } from './slack/kit/blocks.ts';
import { type Command, prefixFor, splitSubcommand } from './slack/kit/command.ts';
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
    return getCommand(name, commands, prefixFor(request)).run(rest, request);
  }),
  settings,
  workflow,
  audit,
  status,
];

/**
 * Runs what was typed after `/vps`, or what a message to the app says. Nothing shows the control panel, a server's name alone its card.
 * @throws Refusal `unknown_command`, and as the command does
 */
export async function runCommand(text: string, request: SlackRequest): Promise<void> {
  const prefix = prefixFor(request);
  const typed = prefix === '/vps ' ? text : withoutManners(text);
  const { name, rest } = splitSubcommand(typed);
  const command = findCommand(name, commands);
  if (name === '') await showPanel(request);
  else if (command) await command.run(rest, request);
  else if (prefix !== '/vps ' && GREETINGS.includes(name)) {
    const words = `Hi! Try \`${prefix}list\` or \`${prefix}reboot web-1\`.\n\`${prefix}help\` shows what else you can do.`;
    await request.reply.send(textMessage(words));
  } else await showNamed(name, typed, request);
}

const GREETINGS: readonly string[] = ['hi', 'hello', 'hey', 'thanks', 'thank', 'thx', 'ok', 'okay', 'cheers'];

/** Words that people put before a command when they write to someone: "hey, could you please reboot web-1?" */
const BEFORE: readonly string[] = [...GREETINGS, 'please', 'can', 'could', 'would', 'you', 'now'];

/** Leaves out what stands before a command in a sentence, and changes nothing else: a label may have any characters. */
function withoutManners(text: string): string {
  let rest = text;
  for (let next = BEGINNING.exec(rest); next; next = BEGINNING.exec(rest)) {
    if (!BEFORE.includes(next[1]?.toLowerCase() ?? '')) break;
    rest = rest.slice(next[0].length);
  }
  return findCommand(splitSubcommand(rest).name, commands) ? rest : text;
}

/** The first word of several. */
const BEGINNING = /^\s*([a-z]{1,10})[\s,]+(?=\S)/i;

/**
 * Shows the server that was named without a command.
 * @throws Refusal `unknown_command`, unless the name is like that of a server
 */
async function showNamed(name: string, typed: string, request: SlackRequest): Promise<void> {
  const unknown = unknownCommand(name, commands, prefixFor(request));
  if ((await request.findRoles()).held.length === 0) throw unknown;
  await show.run(typed, request).catch((error: unknown) => {
    const isUnknown = isRefusal(error, 'unknown_server');
    if (!isUnknown && !isRefusal(error, 'role_needed')) throw error;
    const isLikeServer = isUnknown && error.details.nearest !== undefined;
    throw isLikeServer && unknown.details.nearest === undefined ? error : unknown;
  });
}
