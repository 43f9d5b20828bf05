import type { ModalView, PlainTextOption } from '@slack/types';
import type { UseCaseSpec } from '../../core/entry.ts';
import { type ReasonWords, Refusal, type RefusalDetails } from '../../core/errors.ts';
import { bareName } from '../../core/labels.ts';
import type { Role } from '../../core/roles.ts';
import type { SlackRequest } from '../request.ts';
import type { ActionHandler } from './button.ts';
import type { Origin } from './form.ts';
import type { ModalHandler } from './modal.ts';
import { decodeText } from './text.ts';

/** A subcommand of `/vps` with everything that belongs to it. */
export interface Command extends Handlers {
  readonly name: string;
  /** What follows `/vps` in help and in the README. */
  readonly usage: string;
  /** What a user might type after `/vps`. */
  readonly example: string;
  readonly summary: string;
  /** The role from which help shows it. The entry checks the permission by the use case. */
  readonly needs: Role | 'anyone';
  /** Parses the rest of the line and runs. @throws Refusal `bad_words`, and what the feature throws */
  run(rest: string, request: SlackRequest): Promise<void>;
}

/** What handles the buttons, forms and long menus of a feature. */
export interface Handlers {
  readonly actions: readonly ActionHandler[];
  readonly modals: readonly ModalHandler[];
  readonly suggestions: readonly Suggestions[];
}

/** Finds the options that Slack asks for while a user types in a long menu: 100 at most, within 3 s. */
export interface Suggestions {
  /** The ID of a menu in a message, or of a field of a modal as `modal.field`. */
  readonly id: string;
  find(typed: string, request: SlackRequest): Promise<PlainTextOption[]>;
}

interface CommandParts<Arguments>
  extends Partial<Handlers>,
    Omit<Command, keyof Handlers | 'example' | 'run'> {
  /** Only for a command that takes arguments: otherwise it is the name. */
  readonly example?: string;
  /** The keys of `key=value` words that it takes. */
  readonly options?: readonly string[];
  /** Parses the typed words into arguments, or returns a sentence that says what is wrong with them. */
  parse(typed: TypedWords): Arguments | string;
  run(input: Arguments, request: SlackRequest): Promise<void>;
}

/** Typed text may go into the value of a button, which holds 2,000 characters, escapes included. */
const MAX_TEXT_LENGTH = 900;

export function defineCommand<Arguments>(parts: CommandParts<Arguments>): Command {
  return {
    ...{ example: parts.name, actions: [], modals: [], suggestions: [] },
    ...parts,
    run: async (rest, request) => {
      const parsed =
        rest.length > MAX_TEXT_LENGTH
          ? `That’s too long: use up to ${MAX_TEXT_LENGTH} characters.`
          : parts.parse(parseTyped(rest, parts.options));
      if (typeof parsed === 'string')
        throw new Refusal('bad_words', { problem: parsed, usage: `${prefixFor(request)}${parts.usage}` });
      await parts.run(parsed, request);
    },
  };
}

/** What to type before a command: in a thread, slash commands don't work; in a direct message, nothing is needed. */
export function prefixFor({ caller }: SlackRequest): string {
  if (caller.surface === 'mention') return '@vps ';
  return caller.surface === 'direct_message' ? '' : '/vps ';
}

/** Parses the name of one server, whose label may have spaces; '' if none was typed. */
export function parseServerName({ words }: TypedWords): { readonly typed: string } {
  return { typed: words.join(' ').trim() };
}

export function parseNothing(): Record<never, never> {
  return {};
}

export interface TypedWords {
  readonly words: readonly string[];
  /** The values of `key=value`, `--key=value` and `--key value`, for keys that the command knows. */
  readonly options: Readonly<Record<string, string>>;
}

/**
 * Splits typed text into words and options. Undoes what phones write (smart quotes, and `—` for `--`) and Slack's links
 * (`<http://a.example|a.example>` for anything that looks like an address); mentions such as `<@U1|ann>` stay.
 */
export function parseTyped(text: string, known: readonly string[] = []): TypedWords {
  const tokens = splitTokens(normalise(text));
  const words: string[] = [];
  const options: Record<string, string> = {};
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] ?? '';
    const match = /^(--)?([a-z][a-z-]*)(?:=(.*))?$/is.exec(token);
    const key = match?.[2]?.toLowerCase() ?? '';
    const value = match?.[3];
    if (known.includes(key) && value !== undefined) options[key] = value;
    else if (known.includes(key) && match?.[1] !== undefined) options[key] = tokens[++at] ?? '';
    else words.push(token);
  }
  return { words, options };
}

/** Splits typed text into its first word, folded by `bareName`, and the rest. */
export function splitSubcommand(text: string): { readonly name: string; readonly rest: string } {
  const match = /^\s*(\S*)\s*(.*)$/s.exec(normalise(text));
  return { name: bareName(match?.[1] ?? ''), rest: match?.[2] ?? '' };
}

/** Finds the ID in a user's mention, such as `<@U012AB3CD|ann>`; undefined if the word is none. */
export function findUserId(word: string): string | undefined {
  return /^<@([UW][A-Z0-9]+)(?:\|[^>]*)?>$/.exec(word)?.[1];
}

/** Finds the ID in a channel's mention, such as `<#C012AB3CD|ops>`; undefined if the word is none. */
export function findChannelId(word: string): string | undefined {
  return /^<#([CGD][A-Z0-9]+)(?:\|[^>]*)?>$/.exec(word)?.[1];
}

/** Finds the ID in a user group's mention, such as `<!subteam^S012AB3CD|@ops>`; undefined if the word is none. */
export function findGroupId(word: string): string | undefined {
  return /^<!subteam\^(S[A-Z0-9]+)(?:\|[^>]*)?>$/.exec(word)?.[1];
}

function normalise(text: string): string {
  return text
    .replace(/[\u201C\u201D\u201E\u201F\u00AB\u00BB]/g, '"')
    .replace(/[\u2018\u2019\u201A\u201B]/g, "'")
    .replace(/(^|\s)[\u2014\u2013](?=[a-z])/gi, '$1--')
    .replace(/[\u00A0\u202F\u2000-\u200A]/g, ' ');
}

/** Splits at spaces, except in quoted parts, as in `label="web 1"`. Apostrophes inside words don't quote. */
function splitTokens(text: string): string[] {
  const tokens = text.match(/(?:"[^"]*"|(?<=^|[\s=])'[^']*'|<[^<>\s][^<>]*>|[^\s"']|["'])+/g) ?? [];
  return tokens.map((token) => unwrapLink(unquote(token)));
}

function unquote(token: string): string {
  return token.replace(
    /"([^"]*)"|(?<=^|=)'([^']*)'/g,
    (_, double?: string, single?: string) => double ?? single ?? '',
  );
}

/** Turns Slack's links back into what was typed, and leaves mentions. */
function unwrapLink(token: string): string {
  const plain = token.replace(
    /<(?:https?:\/\/|mailto:)([^<|>]*)(?:\|([^<>]*))?>/g,
    (_, target: string, shown?: string) => shown ?? target,
  );
  return /^<[@#!]/.test(plain) ? plain : decodeText(plain);
}

/** A shortcut of the app, which opens a modal at once and fills it later. */
export interface Shortcut {
  /** The `callback_id` in the manifest. */
  readonly id: string;
  readonly type: 'message' | 'global';
  /** The name in the manifest. */
  readonly name: string;
  readonly title: string;
  /** The use case whose permission is checked before anything is read. */
  readonly needs: UseCaseSpec;
  /** Makes the view. `message`: the one that the shortcut was used on, as Slack sends it. */
  load(message: unknown, request: SlackRequest, origin: Origin): Promise<ModalView>;
}

export type RefusalWords = ReasonWords<RefusalDetails, [currency: string]>;
