import { Refusal } from './core/errors.ts';
import { findNearest } from './core/labels.ts';
import { type Role, roleCovers } from './core/roles.ts';
import { context, type Message, section, textMessage } from './slack/kit/blocks.ts';
import { type Command, defineCommand } from './slack/kit/command.ts';
import { escapeText } from './slack/kit/text.ts';

/** `/vps help`, generated from the commands. Their list is a function, since it contains this command, too. */
export function defineHelp(listCommands: () => readonly Command[]): Command {
  return defineCommand({
    name: 'help',
    usage: 'help [command]',
    summary: 'Show what you can do',
    needs: 'anyone',
    parse: ({ words }) => ({ about: words[0]?.toLowerCase() }),
    run: async ({ about }, request) => {
      const role = await request.findRole();
      const message =
        about === undefined
          ? helpMessage(listCommands(), role)
          : commandHelp(getCommand(about, listCommands()), role);
      await request.reply.send(message);
    },
  });
}

/** Gets a command by the typed name. @throws Refusal `unknown_command` with the nearest one */
export function getCommand(typed: string, commands: readonly Command[]): Command {
  const command = commands.find(({ name }) => name === typed);
  if (command) return command;
  const nearest = findNearest(
    typed,
    commands.map(({ name }) => name),
  );
  throw new Refusal('unknown_command', { typed, nearest });
}

/** The groups of help, in order. Other commands come last. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  Servers: ['list', 'show', 'start', 'stop', 'reboot', 'note', 'delete'],
  Orders: ['catalog', 'create', 'renew', 'password', 'costs'],
  'Account and roles': ['connect', 'disconnect', 'access', 'settings', 'workflow', 'audit', 'status'],
};

/** An example of each command, without `/vps`. */
const EXAMPLES: Readonly<Record<string, string>> = {
  help: 'help create',
  list: 'list web',
  show: 'show web-1',
  start: 'start web-1',
  stop: 'stop web-1 web-2',
  reboot: 'reboot web-1',
  note: 'note web-1 billing, ask before a reboot',
  create: 'create plan=small label=web-2',
  renew: 'renew web-1',
  delete: 'delete web-1',
  password: 'password web-1',
  access: 'access grant @ann operator on web-* for 8h',
  audit: 'audit web-1 since 7d',
};

/** The example of a command, without `/vps`. */
export function exampleOf({ name }: Command): string {
  return EXAMPLES[name] ?? name;
}

/** Renders the commands that a role allows, in groups, each with an example. */
export function helpMessage(commands: readonly Command[], role: Role | undefined): Message {
  const allowed = commands.filter(({ needs }) => needs === 'anyone' || roleCovers(role, needs));
  const grouped = Object.values(GROUPS).flat();
  const groups = [
    ...Object.entries(GROUPS).map(([title, names]) => ({
      title,
      members: names.flatMap((name) => allowed.filter((command) => command.name === name)),
    })),
    { title: 'More', members: allowed.filter(({ name }) => !grouped.includes(name)) },
  ];
  const blocks = groups
    .filter(({ members }) => members.length > 0)
    .map(({ title, members }) => section([`*${title}*`, ...members.map(helpLine)].join('\n')));
  const first = role
    ? `You’re ${articleOf(role)} *${role}*.`
    : 'You don’t have a role yet: `/vps access ask viewer` requests one.';
  const more = '`/vps help create` explains one command. Refer to servers by label, ID or IPv4 address.';
  return { text: 'What you can do with /vps', blocks: [...blocks, context(`${first} ${more}`)] };
}

function helpLine(command: Command): string {
  return `\`/vps ${escapeText(exampleOf(command))}\` ${command.summary}`;
}

function articleOf(role: Role): string {
  return role === 'operator' || role === 'owner' ? 'an' : 'a';
}

/** Renders one command in full, with the role that it needs. */
export function commandHelp(command: Command, role?: Role): Message {
  const { usage, summary, needs } = command;
  const isAllowed = needs === 'anyone' || roleCovers(role, needs);
  const required =
    needs === 'anyone' ? '' : `Requires the *${needs}* role${isAllowed ? '' : ', which you don’t have'}.`;
  return textMessage(
    `*${summary}*\nUsage: \`/vps ${escapeText(usage)}\`\nExample: \`/vps ${escapeText(exampleOf(command))}\``,
    ...(required === '' ? [] : [context(required)]),
  );
}
