import { bareName } from '../../core/labels.ts';
import { decodeText } from './text.ts';

/** What was typed after a subcommand. */
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
