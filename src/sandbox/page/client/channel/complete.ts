import type { PageState } from '../../../slack/page-api.ts';
import type { Subcommand } from '../state/extras.ts';

/** Something that can be completed, and what the composer's text becomes. */
export interface Completion {
  readonly title: string;
  readonly detail: string;
  readonly text: string;
}

const SHOWN = 12;

/** The completions of the text before the cursor: commands, subcommands, users, channels. */
export function complete(
  typed: string,
  state: PageState,
  subcommands: readonly Subcommand[],
): readonly Completion[] {
  if (typed.startsWith('/')) return completeCommand(typed, state, subcommands);
  return completeName(typed, state);
}

function completeCommand(
  typed: string,
  state: PageState,
  subcommands: readonly Subcommand[],
): readonly Completion[] {
  const [name = '', ...words] = typed.split(' ');
  if (words.length === 0)
    return state.commands
      .filter(({ command }) => command.startsWith(name.toLowerCase()))
      .map(({ command, description, usageHint }) => ({
        title: `${command} ${usageHint}`.trim(),
        detail: description,
        text: `${command} `,
      }));
  if (!state.commands.some(({ command }) => command === name)) return [];
  const [word = ''] = words;
  if (words.length > 1) return completeName(typed, state);
  return subcommands
    .filter(({ usage }) => usage.startsWith(word.toLowerCase()))
    .slice(0, SHOWN * 2)
    .map(({ usage, summary }) => {
      const [first = '', ...rest] = usage.split(' ');
      return {
        title: `${name} ${usage}`,
        detail: summary,
        text: `${name} ${first}${rest.length > 0 ? ' ' : ''}`,
      };
    });
}

function mentionable({ people, groups }: PageState) {
  return [
    ...people
      .filter(({ isDeactivated }) => !isDeactivated)
      .map(({ name, realName }) => ({ name, detail: realName })),
    ...groups.map(({ handle, name }) => ({ name: handle, detail: name })),
  ];
}

function channelNames({ channels }: PageState) {
  return channels.filter(({ kind }) => kind !== 'dm').map(({ name }) => ({ name, detail: '' }));
}

function completeName(typed: string, state: PageState): readonly Completion[] {
  const match = /(^|\s)([@#])([\w.-]*)$/.exec(typed);
  if (!match) return [];
  const [, , sign = '', started = ''] = match;
  const before = typed.slice(0, typed.length - started.length - 1);
  return (
    (sign === '@' ? mentionable(state) : channelNames(state))
      .filter(({ name, detail }) => `${name} ${detail}`.toLowerCase().includes(started.toLowerCase()))
      // Handles that start with what was typed come before those where only the full name has it.
      .toSorted(
        (one, other) => Number(startsWith(other.name, started)) - Number(startsWith(one.name, started)),
      )
      .slice(0, SHOWN)
      .map(({ name, detail }) => ({ title: `${sign}${name}`, detail, text: `${before}${sign}${name} ` }))
  );
}

function startsWith(name: string, started: string): boolean {
  return name.toLowerCase().startsWith(started.toLowerCase());
}
