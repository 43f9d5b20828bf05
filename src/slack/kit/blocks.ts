import type {
  ActionsBlock,
  ActionsBlockElement,
  AlertBlock,
  Button,
  ConfirmationDialog,
  ContextBlock,
  DividerBlock,
  HeaderBlock,
  KnownBlock,
  PlainTextElement,
  PlainTextOption,
  RichTextBlock,
  SectionBlock,
} from '@slack/types';
import type { ChartBlock } from './chart.ts';
import { LIMITS } from './limits.ts';
import { shorten } from './text.ts';

export type MessageBlock = KnownBlock | ChartBlock;

/** A message to users. `text` is for notifications and screen readers and never holds a secret. */
export interface Message {
  readonly text: string;
  readonly blocks: MessageBlock[];
  /** The same without blocks that older clients may lack; sent when Slack refuses the first. */
  readonly plainBlocks?: MessageBlock[];
}

/** A message of one paragraph. */
export function textMessage(text: string, ...more: MessageBlock[]): Message {
  return { text, blocks: [section(text), ...more] };
}

/** A paragraph of mrkdwn. The caller escapes what comes from outside. */
export function section(text: string, accessory?: Button): SectionBlock {
  const body = { type: 'mrkdwn' as const, text: shorten(text, LIMITS.text), verbatim: true };
  const isTall = text.length > TALL_CHARACTERS || text.split('\n').length > TALL_LINES;
  return { type: 'section', text: body, accessory, expand: isTall || undefined };
}

/** What is taller than this might be folded behind "Show more", which hides the end of a list or of a warning. */
const TALL_CHARACTERS = 300;
const TALL_LINES = 4;

/** Facts in two columns: name and value, ten at most. */
export function facts(pairs: readonly (readonly [string, string])[]): SectionBlock {
  return {
    type: 'section',
    fields: pairs.slice(0, 10).map(([name, value]) => ({
      type: 'mrkdwn' as const,
      text: shorten(`*${name}*\n${value}`, LIMITS.sectionField),
      verbatim: true,
    })),
  };
}

/** A small grey line. */
export function context(text: string): ContextBlock {
  return {
    type: 'context',
    elements: [{ type: 'mrkdwn', text: shorten(text, LIMITS.text), verbatim: true }],
  };
}

export function header(text: string): HeaderBlock {
  return { type: 'header', text: plain(shorten(text, LIMITS.header)) };
}

export function divider(): DividerBlock {
  return { type: 'divider' };
}

/** A row of buttons and menus. */
export function actions(...elements: ActionsBlockElement[]): ActionsBlock {
  return { type: 'actions', elements };
}

/** A warning inside a modal; messages have none. */
export function alert(text: string, level: 'info' | 'warning' | 'error' | 'success' = 'warning'): AlertBlock {
  return {
    type: 'alert',
    level,
    text: { type: 'mrkdwn', text: shorten(text, LIMITS.alert), verbatim: true },
  };
}

/** Text that is shown exactly as it is, with nothing in it read as formatting: for a password. */
export function preformatted(text: string): RichTextBlock {
  return {
    type: 'rich_text',
    elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text }] }],
  };
}

/** Plain text; emoji codes in it stay as they are typed. */
export function plain(text: string): PlainTextElement {
  return { type: 'plain_text', text, emoji: false };
}

/** One choice of a menu: 75 characters of text and of value at most. */
export function option(text: string, value: string, description?: string): PlainTextOption {
  return {
    text: plain(shorten(text, LIMITS.optionText)),
    value,
    description: description ? plain(shorten(description, LIMITS.optionDescription)) : undefined,
  };
}

/**
 * The question that Slack asks before it sends the press of a button. Slack draws the text as it is: plain labels, and times
 * in words.
 */
export function confirmation(words: {
  title: string;
  text: string;
  confirm: string;
  isDangerous?: boolean;
}): ConfirmationDialog {
  return {
    title: plain(shorten(words.title, LIMITS.confirmTitle)),
    text: plain(shorten(words.text, LIMITS.confirmText)),
    confirm: plain(shorten(words.confirm, LIMITS.confirmButton)),
    deny: plain('Cancel'),
    style: words.isDangerous ? ('danger' as const) : undefined,
  };
}
