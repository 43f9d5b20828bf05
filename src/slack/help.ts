import { type Role, roleCovers } from '../domain/actor.ts';
import { Refusal } from '../domain/errors.ts';
import { findNearest } from '../domain/nearest.ts';
import { omitUndefined } from '../domain/omit-undefined.ts';
import { context, type Message, textMessage } from './kit/blocks.ts';
import { type Command, defineCommand } from './kit/command.ts';
import { escapeText } from './kit/text.ts';

/** Help is generated from the commands. The list is passed in, since it contains this command too. */
export function defineHelp(listCommands: () => readonly Command[]): Command {
  return defineCommand({
    name: 'help',
    usage: 'help [command]',
    summary: 'Shows what you can do here',
    needs: 'anyone',
    parse: ({ words }) => ({ about: words[0]?.toLowerCase() }),
    run: async ({ about }, request) => {
      const role = await request.findRole();
      const message =
        about === undefined
          ? helpMessage(listCommands(), role)
          : commandHelp(getCommand(about, listCommands()));
      await request.reply.send(message);
    },
  });
}

/** Finds a command by the name that was typed. @throws Refusal `unknown_command` with the nearest one */
export function getCommand(typed: string, commands: readonly Command[]): Command {
  const command = commands.find(({ name }) => name === typed);
  if (command) return command;
  const nearest = findNearest(
    typed,
    commands.map(({ name }) => name),
  );
  throw new Refusal('unknown_command', { typed, ...omitUndefined({ nearest }) });
}

/** The commands that this user may run, and no others. */
export function helpMessage(commands: readonly Command[], role: Role | undefined): Message {
  const allowed = commands.filter(({ needs }) => needs === 'anyone' || roleCovers(role, needs));
  const lines = allowed.map(({ usage, summary }) => `\`/vps ${escapeText(usage)}\` ${summary}`);
  const roleWords = role
    ? `You are *${role}* here.`
    : 'You have no role here yet: ask for one with `/vps access ask viewer`.';
  return textMessage(
    lines.join('\n'),
    context(`${roleWords} A server is named by its label, id or IPv4 address.`),
  );
}

/** One command in full. */
export function commandHelp({ usage, summary, needs }: Command): Message {
  const takes = needs === 'anyone' ? '' : `\nIt takes the role *${needs}*.`;
  return textMessage(`\`/vps ${escapeText(usage)}\`\n${summary}.${takes}`);
}
