import { Refusal } from './core/errors.ts';
import { findNearest } from './core/labels.ts';
import { type Role, roleCovers, strongestRole } from './core/roles.ts';
import { context, type Message, section, textMessage } from './slack/kit/blocks.ts';
import { type Command, defineCommand, prefixFor } from './slack/kit/command.ts';
import { escapeText } from './slack/kit/text.ts';

/** `/vps help`, generated from the commands. Their list is a function, since it contains this command, too. */
export function defineHelp(listCommands: () => readonly Command[]): Command {
  return defineCommand({
    name: 'help',
    usage: 'help [command|all]',
    example: 'help reboot',
    summary: 'Show what you can do',
    needs: 'anyone',
    parse: ({ words }) => ({ about: words[0]?.toLowerCase() }),
    run: async ({ about }, request) => {
      const { held, possible } = await request.findRoles();
      const role = strongestRole(held);
      const isSure = strongestRole([...held, ...possible]) === role;
      const prefix = prefixFor(request);
      const commands = listCommands();
      const make = () => {
        if (about === undefined) return helpMessage(commands, role, prefix, isSure);
        if (about === 'all') return allCommands(commands, role, prefix, isSure);
        return commandHelp(getCommand(about, commands, prefix), role, prefix, isSure);
      };
      await request.reply.send(make());
    },
  });
}

/** Other words for a command, which people type first. */
const ALIASES: Readonly<Record<string, string>> = {
  ls: 'list',
  servers: 'list',
  restart: 'reboot',
  shutdown: 'stop',
  new: 'create',
  remove: 'delete',
  rm: 'delete',
  price: 'catalog',
  prices: 'catalog',
  plans: 'catalog',
  roles: 'access',
  config: 'settings',
};

export function findCommand(typed: string, commands: readonly Command[]): Command | undefined {
  const meant = Object.hasOwn(ALIASES, typed) ? ALIASES[typed] : typed;
  return commands.find(({ name }) => name === meant);
}

/** Gets a command by the typed name. @throws Refusal `unknown_command` with the nearest one */
export function getCommand(typed: string, commands: readonly Command[], prefix: string): Command {
  const command = findCommand(typed, commands);
  if (command) return command;
  throw unknownCommand(typed, commands, prefix);
}

/** Makes the refusal of an unknown command, with the nearest one. */
export function unknownCommand(typed: string, commands: readonly Command[], prefix: string) {
  // With the other words, so that a mistyped "restart" isn't taken for "start".
  const names = [...commands.map(({ name }) => name), ...Object.keys(ALIASES)];
  return new Refusal('unknown_command', { typed, nearest: findNearest(typed, names), prefix });
}

/** The most useful commands first: the first eight that a role allows are its help. */
const FIRST: readonly string[] = [
  ...['list', 'show', 'reboot', 'create', 'renew', 'delete', 'access', 'settings'],
  ...['start', 'stop', 'status', 'costs', 'password', 'catalog', 'reminders', 'note'],
];
const SHOWN_FIRST = 8;

/** The groups of all commands, in order. Other commands come last. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  Servers: ['list', 'show', 'start', 'stop', 'reboot', 'note', 'delete'],
  Orders: ['catalog', 'create', 'renew', 'password', 'costs'],
  'Account and roles': ['connect', 'disconnect', 'access', 'settings', 'workflow', 'audit', 'status'],
};

/**
 * Renders the eight commands that a user of this role needs most, the other ways to act, and where the rest is. `isSure`: Slack
 * has confirmed that they have no higher role.
 */
export function helpMessage(
  commands: readonly Command[],
  role: Role | undefined,
  prefix = '/vps ',
  isSure = true,
): Message {
  const allowed = listAllowed(commands, role);
  const first = FIRST.flatMap((name) => allowed.filter((command) => command.name === name));
  const lines = first.slice(0, SHOWN_FIRST).map((command) => helpLine(command, prefix));
  const ways = role
    ? [
        section(
          [
            `*A server’s name* alone shows the server: \`${prefix}web-1\``,
            '*From an alert:* choose *Manage server…* in the message’s ⋮ menu',
            '*In a thread:* `@vps reboot web-1`',
          ].join('\n'),
        ),
      ]
    : [];
  const more = `\`${prefix}help all\` lists every command, \`${prefix}help reboot\` explains one.`;
  return {
    text: 'What you can do with /vps',
    blocks: [section(lines.join('\n')), ...ways, context(isSure ? `${roleWords(role)} ${more}` : more)],
  };
}

/** Renders all commands that a role allows, in groups, each with an example. */
export function allCommands(
  commands: readonly Command[],
  role: Role | undefined,
  prefix = '/vps ',
  isSure = true,
): Message {
  const allowed = listAllowed(commands, role);
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
    .map(({ title, members }) =>
      section([`*${title}*`, ...members.map((command) => helpLine(command, prefix))].join('\n')),
    );
  const more = 'Refer to servers by label, ID or IPv4 address.';
  return {
    text: 'Every command of /vps',
    blocks: [...blocks, context(isSure ? `${roleWords(role)} ${more}` : more)],
  };
}

function listAllowed(commands: readonly Command[], role: Role | undefined): readonly Command[] {
  return commands.filter(({ needs }) => needs === 'anyone' || roleCovers(role, needs));
}

function roleWords(role: Role | undefined): string {
  if (!role) return 'You don’t have a role yet: `/vps access ask viewer` requests one.';
  return `You’re ${role === 'operator' || role === 'owner' ? 'an' : 'a'} *${role}*.`;
}

function helpLine(command: Command, prefix: string): string {
  return `\`${prefix}${escapeText(command.example)}\` ${command.name === 'help' ? 'Explain one command' : command.summary}`;
}

/** Renders one command in full, with the role that it needs. */
export function commandHelp(command: Command, role?: Role, prefix = '/vps ', isSure = true): Message {
  const { usage, summary, needs } = command;
  const isLacking = isSure && needs !== 'anyone' && !roleCovers(role, needs);
  const required =
    needs === 'anyone' ? '' : `Requires the *${needs}* role${isLacking ? ', which you don’t have' : ''}.`;
  return textMessage(
    `*${summary}*\nUsage: \`${prefix}${escapeText(usage)}\`\nExample: \`${prefix}${escapeText(command.example)}\``,
    ...(required === '' ? [] : [context(required)]),
  );
}
