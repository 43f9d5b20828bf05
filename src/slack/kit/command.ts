import type { ModalView, PlainTextOption } from '@slack/types';
import type { UseCaseSpec } from '../../core/entry.ts';
import { type ReasonWords, Refusal, type RefusalDetails } from '../../core/errors.ts';
import type { Role } from '../../core/roles.ts';
import type { SlackRequest } from '../request.ts';
import type { ActionHandler } from './button.ts';
import type { Origin } from './form.ts';
import type { ModalHandler } from './modal.ts';
import { parseTyped, type TypedWords } from './typed-words.ts';

/** One subcommand of `/vps` with everything that belongs to it. */
export interface Command {
  readonly name: string;
  /** What stands after `/vps` in help and in the README. */
  readonly usage: string;
  readonly summary: string;
  /** For help only: which users see it. The entry checks permission by the use case. */
  readonly needs: Role | 'anyone';
  run(rest: string, request: SlackRequest): Promise<void>;
  readonly actions: readonly ActionHandler[];
  readonly modals: readonly ModalHandler[];
  readonly suggestions: readonly Suggestions[];
}

/** The options that Slack asks for while a user types in a long menu: at most 100, within 3 s. */
export interface Suggestions {
  /** A menu in a message by its id, or a field of a modal as `modal.field`. */
  readonly id: string;
  find(typed: string, request: SlackRequest): Promise<PlainTextOption[]>;
}

interface CommandParts<Arguments> {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  readonly needs: Role | 'anyone';
  /** Words that may stand as `key=value`. */
  readonly options?: readonly string[];
  /** Parses what was typed into arguments; a string says what is wrong with it. */
  parse(typed: TypedWords): Arguments | string;
  run(input: Arguments, request: SlackRequest): Promise<void>;
  readonly actions?: readonly ActionHandler[];
  readonly modals?: readonly ModalHandler[];
  readonly suggestions?: readonly Suggestions[];
}

/** Typed text may be stored in the value of a button, which holds 2,000 characters, escapes included. */
const MAX_TEXT_LENGTH = 900;

/** Defines a subcommand. To add one: a file in its feature's folder, and a line in `commands.ts`. */
export function defineCommand<Arguments>(parts: CommandParts<Arguments>): Command {
  const { name, usage, summary, needs } = parts;
  return {
    name,
    usage,
    summary,
    needs,
    run: async (rest, request) => {
      if (rest.length > MAX_TEXT_LENGTH) {
        const problem = `That’s too long: use up to ${MAX_TEXT_LENGTH} characters.`;
        throw new Refusal('bad_words', { problem, usage: `/vps ${usage}` });
      }
      const parsed = parts.parse(parseTyped(rest, parts.options));
      if (typeof parsed === 'string') {
        throw new Refusal('bad_words', { problem: parsed, usage: `/vps ${usage}` });
      }
      await parts.run(parsed, request);
    },
    actions: parts.actions ?? [],
    modals: parts.modals ?? [],
    suggestions: parts.suggestions ?? [],
  };
}

/** For commands that take one server: its label may have spaces in it. Without one, they open a menu of servers. */
export function parseServerName({ words }: TypedWords): { readonly typed: string } {
  return { typed: words.join(' ').trim() };
}

/** For commands without arguments. */
export function parseNothing(): Record<never, never> {
  return {};
}

/** A shortcut of the app: it opens a modal at once, and fills it. The manifest names it by its ID. */
export interface Shortcut {
  readonly id: string;
  /** On a message, or from anywhere. */
  readonly type: 'message' | 'global';
  /** What the manifest calls it. */
  readonly name: string;
  /** The modal's title. */
  readonly title: string;
  /** The use case whose permission is checked before anything is read. */
  readonly needs: UseCaseSpec;
  /** `message`: the one that the shortcut was used on, as Slack sends it. */
  load(message: unknown, request: SlackRequest, origin: Origin): Promise<ModalView>;
}

/** What each refusal says, in escaped mrkdwn. Each feature has the words of its own codes; `words.ts` has all of them. */
export type RefusalWords = ReasonWords<RefusalDetails, [currency: string]>;
