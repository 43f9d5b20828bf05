import type { HomeView, ModalView } from '@slack/types';
import type { Message } from '../../slack/kit/blocks.ts';
import { nameBlocks, valuesOf } from '../slack/entered.ts';
import { pageView } from '../slack/page.ts';
import type { PageMessage, PageView } from '../slack/page-api.ts';
import { APP } from '../slack/workspace.ts';
import { createIds, type Ids, makeHandClock } from '../slack/world.ts';
import type { Surface } from './fixtures/samples.ts';
import type { GalleryPiece, SentenceRow } from './gallery-api.ts';

/** The groups of the gallery, in the order in which they are shown. */
export const GROUPS = [
  'Help',
  'Home',
  'Servers',
  'Purchases',
  'Reminders',
  'Approvals',
  'Access',
  'Account',
  'Workflows',
  'Refusals and errors',
] as const;

export type Group = (typeof GROUPS)[number];

/** One fixed time, so that pictures of different days can be compared. */
const DRAWN_AT_MS = 1_790_000_000_000;

/** What the page draws, group by group. A message with blocks that older clients lack is drawn in both versions. */
export function makePieces(surfaces: readonly Surface[]): readonly DrawnPiece[] {
  const ids = createIds(makeHandClock(DRAWN_AT_MS));
  const pieces = surfaces.flatMap((surface) => versionsOf(surface).map((version) => makePiece(version, ids)));
  return withOwnIds(pieces.toSorted((one, other) => GROUPS.indexOf(one.group) - GROUPS.indexOf(other.group)));
}

/** One form of a surface, as it is sent to Slack. */
interface Version extends Pick<Surface, 'group' | 'name' | 'family'> {
  readonly made: Message | ModalView | HomeView;
}

/** A surface, and the same for clients that don't know newer blocks. */
export function versionsOf({ make, ...surface }: Surface): readonly Version[] {
  const made = make();
  if (isView(made) || !made.plainBlocks) return [{ ...surface, made }];
  const plain = { text: made.text, blocks: made.plainBlocks };
  return [
    { ...surface, made },
    { ...surface, name: `${surface.name}, for older clients`, made: plain },
  ];
}

/** Distinguishes forms and Home from messages. */
export function isView(made: Version['made']): made is ModalView | HomeView {
  return 'type' in made;
}

function makePiece({ made, ...surface }: Version, ids: Ids): DrawnPiece {
  const piece = { ...surface, id: slugOf(`${surface.group} ${surface.name}`) };
  if (isView(made)) return { ...piece, kind: made.type, payload: drawView(made, ids) };
  return { ...piece, kind: 'message', payload: drawMessage(made, ids) };
}

function drawView({ blocks, ...fields }: ModalView | HomeView, ids: Ids): PageView {
  const id = ids.id('V');
  return pageView({
    id,
    user: '',
    type: fields.type,
    fields,
    blocks: nameBlocks(blocks, ids),
    hash: '',
    rootId: id,
    previousId: undefined,
    entered: new Map(),
    errors: {},
    trouble: undefined,
  });
}

function drawMessage({ text, blocks }: Message, ids: Ids): PageMessage {
  const named = nameBlocks(blocks, ids);
  return {
    channel: 'gallery',
    ts: ids.ts(),
    user: APP.botUserId,
    text,
    blocks: named,
    attachments: [],
    ephemeral: false,
    edited: false,
    reactions: [],
    values: valuesOf(named, new Map()),
    pings: [],
  };
}

/** Makes the IDs unique by counting those that repeat. */
function withOwnIds(pieces: readonly DrawnPiece[]): readonly DrawnPiece[] {
  const seen = new Map<string, number>();
  return pieces.map((piece) => {
    const times = (seen.get(piece.id) ?? 0) + 1;
    seen.set(piece.id, times);
    return times === 1 ? piece : { ...piece, id: `${piece.id}-${times}` };
  });
}

type DrawnPiece = Exclude<GalleryPiece, { readonly kind: 'sentences' }> & Pick<Surface, 'group' | 'family'>;

/**
 * The gallery, so that who reads it aloud reads every sentence once: what says nothing new is left out, and of a
 * family only the first is drawn in full; of the others, the parts that say something new, in one list.
 */
export function arrange(drawn: readonly DrawnPiece[]): readonly GalleryPiece[] {
  const said = new Set<string>();
  const isNew = (part: unknown) => sentencesOf(part).some((sentence) => !said.has(sentence));
  const pieces: GalleryPiece[] = [];
  const families = new Map<string, SentenceRow[] | 'drawn'>();
  for (const { family, ...piece } of drawn) {
    if (!isNew(piece.payload)) continue;
    const known = family === undefined ? undefined : families.get(family);
    if (family === undefined || known === undefined) {
      pieces.push(piece);
      if (family !== undefined) families.set(family, 'drawn');
    } else {
      const rows = known === 'drawn' ? [] : known;
      rows.push(makeRow(piece, isNew));
      families.set(family, rows);
      const name = `${family}: the other variants`;
      const { group } = piece;
      if (known === 'drawn')
        pieces.push({ kind: 'sentences', id: slugOf(`${group} ${name}`), group, name, rows });
    }
    for (const sentence of sentencesOf(piece.payload)) said.add(sentence);
  }
  return pieces;
}

function makeRow(piece: DrawnPiece, isNew: (part: unknown) => boolean): SentenceRow {
  const { blocks } = piece.payload;
  const inBlocks = new Set(sentencesOf(blocks));
  // Buttons say little without the words above them.
  const isShown = (at: number) =>
    isNew(blocks[at]) || (blocks[at + 1]?.type === 'actions' && isNew(blocks[at + 1]));
  const shown = { name: piece.name, blocks: blocks.filter((_, at) => isShown(at)) };
  if (piece.kind !== 'message') return shown;
  const { text } = piece.payload;
  const isSaid = sentencesOf({ text }).every((sentence) => inBlocks.has(sentence)) || !isNew({ text });
  return isSaid ? shown : { ...shown, notification: text };
}

function slugOf(words: string): string {
  return words.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

/** The fields of Block Kit that hold words. */
const TEXT_FIELDS = ['text', 'fallback', 'title', 'alt_text'];

/**
 * The sentences of a message, a modal or a part of one. Numbers and IDs don't make a sentence another one, nor does what
 * stands in code: labels and commands.
 */
export function sentencesOf(part: unknown): readonly string[] {
  return listTexts(part).flatMap(splitSentences);
}

function listTexts(value: unknown, field = ''): string[] {
  if (typeof value === 'string') return TEXT_FIELDS.includes(field) ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((each) => listTexts(each, field));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => listTexts(each, name));
}

function splitSentences(text: string): string[] {
  return text
    .replace(/`[^`\n]*`/g, '`…`')
    .split(/(?<=[.!?])\s+|\n/)
    .map((sentence) =>
      sentence
        .replace(/[A-Z][A-Z0-9]{8,}/g, 'ID')
        .replace(/[\d.,]+/g, '#')
        .trim(),
    )
    .filter((sentence) => sentence !== '');
}
