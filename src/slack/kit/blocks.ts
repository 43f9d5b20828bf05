import type {
  ActionsBlock,
  ActionsBlockElement,
  AnyBlock,
  Button,
  ConfirmationDialog,
  ContextBlock,
  DividerBlock,
  HeaderBlock,
  HomeView,
  KnownBlock,
  ModalView,
  PlainTextElement,
  PlainTextOption,
  RichTextBlock,
  SectionBlock,
} from '@slack/types';
import { z } from 'zod';
import { PART_OF_LIST } from '../../core/find-server.ts';
import type { WorkspaceId } from '../../core/ids.ts';
import { plainLabel, readJson, shorten } from './text.ts';

export type MessageBlock = KnownBlock | ChartBlock;

/** A message to users. `text` is for notifications and screen readers, and never holds a secret. */
export interface Message {
  readonly text: string;
  readonly blocks: MessageBlock[];
  /** The same content in blocks that every Slack takes; sent if Slack refuses `blocks`. */
  readonly plainBlocks?: MessageBlock[];
}

/** Makes a message of one paragraph of mrkdwn, and more blocks. The text is shown in notifications: no secrets. */
export function textMessage(text: string, ...more: MessageBlock[]): Message {
  return { text, blocks: [section(text), ...more] };
}

/** Makes a paragraph of mrkdwn, cut to Slack's limit. The caller escapes what comes from outside. */
export function section(text: string, accessory?: Button): SectionBlock {
  const body = { type: 'mrkdwn' as const, text: shorten(text, LIMITS.text), verbatim: true };
  const isTall = text.length > TALL_CHARACTERS || text.split('\n').length > TALL_LINES;
  return { type: 'section', text: body, accessory, expand: isTall || undefined };
}

export function sectionsOf(lines: readonly string[], most: number): SectionBlock[] {
  const parts = Math.ceil(lines.length / most);
  return Array.from({ length: parts }, (_, at) =>
    section(lines.slice(at * most, (at + 1) * most).join('\n')),
  );
}

/** Taller text is expanded: Slack might fold it behind "Show more", which hides the end of a list or of a warning. */
const TALL_CHARACTERS = 300;
const TALL_LINES = 4;

/** Makes a block of facts in two columns, name and value in mrkdwn; ten at most, the rest is left out. */
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

export function actions(...elements: ActionsBlockElement[]): ActionsBlock {
  return { type: 'actions', elements };
}

/** Makes a block of text without formatting: for a secret. `holdsSecret` in refusals.ts recognizes a message by it. */
export function preformatted(text: string): RichTextBlock {
  return {
    type: 'rich_text',
    elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text }] }],
  };
}

/** Makes plain text; emoji codes in it stay as they are typed. */
export function plain(text: string): PlainTextElement {
  return { type: 'plain_text', text, emoji: false };
}

/** Makes one choice of a menu. Cuts text and description to 75 characters; the value must not be longer. */
export function option(text: string, value: string, description?: string): PlainTextOption {
  return {
    text: plain(shorten(text, LIMITS.optionText)),
    value,
    description: description ? plain(shorten(description, LIMITS.optionDescription)) : undefined,
  };
}

/**
 * Makes the question that Slack asks before it sends the press of a button. All of it is plain text: use plain labels and times in
 * words.
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

/**
 * The limits that messages and modals are cut to, in characters or counts, from Slack's Block Kit reference and the types of
 * `@slack/types` 3.2.
 */
export const LIMITS = {
  /** Any text object, and the text of a section. */
  text: 3000,
  sectionField: 2000,
  header: 150,
  buttonText: 75,
  accessibilityLabel: 75,
  options: 100,
  optionText: 75,
  optionDescription: 75,
  /** 150 by Slack's reference, 75 by its published types. */
  optionValue: 75,
  confirmTitle: 100,
  confirmText: 300,
  confirmButton: 30,
  /** Title, submit and close of a modal. */
  viewTitle: 24,
  viewBlocks: 100,
  /** Title of a chart, and of its axes. */
  chartTitle: 50,
  /** A category, segment or series of a chart. */
  chartLabel: 20,
  /** Text of a preformatted block. Slack documents no limit, so that of any other text. */
  preformatted: 3000,
} as const;

interface Point {
  readonly label: string;
  readonly value: number;
}

/** A chart in a message (Slack, "Data visualization block"), which `@slack/types` 3.2 doesn't have yet. */
export interface ChartBlock {
  readonly type: 'data_visualization';
  readonly block_id?: string;
  readonly title: string;
  readonly chart: {
    readonly type: 'bar';
    readonly series: readonly { readonly name: string; readonly data: readonly Point[] }[];
    readonly axis_config: { readonly categories: readonly string[]; readonly y_label?: string };
  };
}

/** Makes a chart of bars. Not every Slack takes it, nor two equal labels, so the message has to have the numbers as text, too. */
export function barChart(words: {
  readonly title: string;
  /** The name of what the bars measure. */
  readonly name: string;
  readonly yLabel?: string;
  readonly bars: readonly Point[];
}): ChartBlock {
  const data = words.bars.map(({ label, value }) => ({ label: plainLabel(label, LIMITS.chartLabel), value }));
  const yLabel = words.yLabel === undefined ? undefined : shorten(words.yLabel, LIMITS.chartTitle);
  return {
    type: 'data_visualization',
    title: shorten(words.title, LIMITS.chartTitle),
    chart: {
      type: 'bar',
      series: [{ name: shorten(words.name, LIMITS.chartLabel), data }],
      axis_config: { categories: data.map(({ label }) => label), y_label: yLabel },
    },
  };
}

/** The prefix `notice:` makes `readCard` remove the note before the next answer is shown on a card. */
const BLOCK_ID = 'notice:part_of_list';

export function partOfList(): ContextBlock {
  return { ...context(`:warning: ${PART_OF_LIST}`), block_id: BLOCK_ID };
}

/** Whether blocks or a text already have that note. */
export function saysPartOfList(shown: string | readonly AnyBlock[]): boolean {
  return JSON.stringify(shown).includes(PART_OF_LIST);
}

/** Adds the note that servers may be missing below the first block, unless the blocks have it. */
export function withPartOfList<Block extends AnyBlock>(blocks: readonly Block[]): (Block | ContextBlock)[] {
  if (saysPartOfList(blocks)) return [...blocks];
  return [...blocks.slice(0, 1), partOfList(), ...blocks.slice(1)];
}

/*
 * Where the app is installed for a whole organization, Slack doesn't say in which of its workspaces a button was pressed or
 * a form was submitted. So the app's own messages and forms carry the workspace: users can't alter what Slack sends back of
 * them. A view that answers a submission keeps the origin of the view before it.
 */

const STAMP = /^w:(T[A-Z0-9]{1,62}):\d+$/;

/** Puts the workspace into the ID of each block that has none. */
export function stampBlocks<Block extends MessageBlock | AnyBlock>(
  blocks: readonly Block[],
  workspaceId: WorkspaceId,
): Block[] {
  return blocks.map((block, at) => ({ block_id: `w:${workspaceId}:${at}`, ...block }));
}

export function readBlockStamp(blockId: string | undefined): WorkspaceId | undefined {
  return STAMP.exec(blockId ?? '')?.[1];
}

const metadata = z.looseObject({ o: z.looseObject({}) });

export function stampView<View extends ModalView | HomeView>(view: View, workspaceId: WorkspaceId): View {
  const stamped = { ...view, blocks: stampBlocks(view.blocks, workspaceId) };
  // Absent in a view without a form, which can't be submitted.
  const written = metadata.safeParse(readJson(view.private_metadata ?? '')).data;
  if (!written) return stamped;
  return { ...stamped, private_metadata: JSON.stringify({ ...written, o: { ...written.o, workspaceId } }) };
}
