import type { HomeView, ModalView } from '@slack/types';
import type { Message } from '../../slack/kit/blocks.ts';
import { nameBlocks, valuesOf } from '../slack/entered.ts';
import { pageView } from '../slack/page.ts';
import type { PageMessage, PageView } from '../slack/page-api.ts';
import { APP } from '../slack/workspace.ts';
import { createIds, type Ids, makeHandClock } from '../slack/world.ts';
import { type DrawnPiece, slugOf } from './arrange.ts';
import type { Surface } from './fixtures/surface.ts';
import { type Place, placeOf, positionOf } from './groups.ts';

/** One fixed time, so that pictures of different days can be compared. */
const DRAWN_AT_MS = 1_790_000_000_000;

/** What the page draws, group by group. A message with blocks that older clients lack is drawn in both versions. */
export function makePieces(surfaces: readonly Surface[]): readonly DrawnPiece[] {
  const ids = createIds(makeHandClock(DRAWN_AT_MS));
  const pieces = surfaces.flatMap((surface) => versionsOf(surface).map((version) => makePiece(version, ids)));
  return withOwnIds(pieces.toSorted((one, other) => positionOf(one.group) - positionOf(other.group)));
}

/** One form of a surface, as it is sent to Slack. */
export interface Version {
  readonly name: string;
  readonly place: Place;
  readonly made: Message | ModalView | HomeView;
}

/** A surface, and the same for clients that don't know newer blocks. */
export function versionsOf({ name, make }: Surface): readonly Version[] {
  const made = make();
  const place = placeOf(name);
  if (isView(made) || !made.plainBlocks) return [{ name, place, made }];
  const plain = { text: made.text, blocks: made.plainBlocks };
  return [
    { name, place, made },
    { name: `${name}, for older clients`, place, made: plain },
  ];
}

/** Distinguishes forms and Home from messages. */
export function isView(made: Version['made']): made is ModalView | HomeView {
  return 'type' in made;
}

function makePiece({ name, place, made }: Version, ids: Ids): DrawnPiece {
  const piece = { ...place, id: slugOf(`${place.group} ${name}`), name };
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
