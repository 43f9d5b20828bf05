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
import { plainLabel, shorten } from './text.ts';

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

/**
 * Limits that messages and modals are cut to, in characters or counts.
 * From Slack's Block Kit reference and the types of `@slack/types` 3.2.
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
  /** Slack's pages say 150, its published types 75: the stricter holds here. */
  optionValue: 75,
  confirmTitle: 100,
  confirmText: 300,
  confirmButton: 30,
  /** Title, submit and close of a modal. */
  viewTitle: 24,
  /** Title of a chart, and of its axes. */
  chartTitle: 50,
  /** A category, segment or series of a chart. */
  chartLabel: 20,
  /** Text of a preformatted block. Not written down by Slack: as strict as any other text. */
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

/** Bars of one color: 20 at most. Not every Slack shows it, so the numbers have to stand in the message as text, too. */
export function barChart(words: {
  readonly title: string;
  /** What the bars measure. */
  readonly name: string;
  readonly yLabel?: string;
  readonly bars: readonly Point[];
}): ChartBlock {
  const labels = tellApart(words.bars.map(({ label }) => plainLabel(label, LIMITS.chartLabel)));
  const data = words.bars.map(({ value }, at) => ({ label: labels[at] ?? '', value }));
  const yLabel = words.yLabel === undefined ? undefined : shorten(words.yLabel, LIMITS.chartTitle);
  return {
    type: 'data_visualization',
    title: shorten(words.title, LIMITS.chartTitle),
    chart: {
      type: 'bar',
      series: [{ name: shorten(words.name, LIMITS.chartLabel), data }],
      axis_config: { categories: labels, y_label: yLabel },
    },
  };
}

/** Slack refuses two bars of one label, and two long labels may have been shortened to the same. */
function tellApart(labels: readonly string[]): string[] {
  const used = new Set<string>();
  return labels.map((label) => {
    let own = label;
    for (let copy = 2; used.has(own); copy++)
      own = `${shorten(label, LIMITS.chartLabel - String(copy).length - 1)} ${copy}`;
    used.add(own);
    return own;
  });
}

/** Like a card's notices, it is removed from the card before the next answer is shown there. */
const BLOCK_ID = 'notice:part_of_list';

/** Says that servers may be missing. */
export function partOfList(): ContextBlock {
  return { ...context(`:warning: ${PART_OF_LIST}`), block_id: BLOCK_ID };
}

/** Whether these blocks, or this text, already say so. */
export function saysPartOfList(shown: string | readonly AnyBlock[]): boolean {
  return JSON.stringify(shown).includes(PART_OF_LIST);
}

/** The same blocks with one note, below the first block, which it is about. */
export function withPartOfList<Block extends AnyBlock>(blocks: readonly Block[]): (Block | ContextBlock)[] {
  if (saysPartOfList(blocks)) return [...blocks];
  return [...blocks.slice(0, 1), partOfList(), ...blocks.slice(1)];
}

/*
 * Where the app is installed for a whole organization, Slack doesn't say in which of its workspaces a button was pressed or
 * a form was submitted. So the app's own messages and forms carry it: users can't alter what Slack sends back of them. A view
 * that answers a submission keeps the origin of the view before it.
 */

const STAMP = /^w:(T[A-Z0-9]{1,62}):\d+$/;

/** The same blocks, each with the workspace in its ID. */
export function stampBlocks<Blocks>(blocks: Blocks, workspaceId: WorkspaceId): Blocks {
  if (!Array.isArray(blocks)) return blocks;
  const stamped: unknown = blocks.map((block: object, at) => ({
    block_id: `w:${workspaceId}:${at}`,
    ...block,
  }));
  return stamped as Blocks;
}

/** The workspace in a block's ID; undefined where it has none. */
export function readBlockStamp(blockId: string | undefined): WorkspaceId | undefined {
  return STAMP.exec(blockId ?? '')?.[1];
}

const metadata = z.looseObject({ o: z.looseObject({}) });

/** The same view, with the workspace in the origin that its metadata carries. */
export function stampView<View extends ModalView | HomeView>(view: View, workspaceId: WorkspaceId): View {
  const blocks = stampBlocks(view.blocks, workspaceId);
  const written = parseMetadata(view.private_metadata ?? '');
  if (!written) return { ...view, blocks };
  return {
    ...view,
    blocks,
    private_metadata: JSON.stringify({ ...written, o: { ...written.o, workspaceId } }),
  };
}

function parseMetadata(text: string) {
  try {
    return metadata.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // a view without a form: nothing of it is submitted
  }
}
