import { listElements, type PlacedElement } from '../block-ids.ts';
import { objectIn, textIn } from '../json.ts';
import type { PagePlace } from '../page-api.ts';
import { decodeEntities } from '../render/mrkdwn.ts';
import type { StoredMessage } from '../stored-message.ts';
import type { StoredView } from '../views.ts';

export type Surface = StoredMessage | StoredView;

/** An element that a user can reach, and where it is. */
export interface Found {
  readonly at: PlacedElement;
  readonly place: PagePlace;
  readonly surface: Surface;
}

export type Wanted = string | RegExp;

export function matches(text: string, wanted: Wanted): boolean {
  return typeof wanted === 'string' ? text.trim() === wanted : wanted.test(text);
}

/** Finds a button by its text; the surfaces are looked through in order. */
export function findButton(surfaces: readonly Surface[], wanted: Wanted): Found | undefined {
  return findIn(surfaces, ({ element }) => matches(textIn(element.text, 'text'), wanted));
}

/** Finds an input by its label, or a menu by its placeholder or the text next to it. */
export function findInput(surfaces: readonly Surface[], wanted: Wanted): Found | undefined {
  const isInput = ({ element }: PlacedElement) => !String(element.type).endsWith('button');
  return (
    findIn(surfaces, (at) => isInput(at) && namesOf(at).some((name) => matches(name, wanted))) ??
    findIn(surfaces, (at) => isInput(at) && typeof wanted === 'string' && textBeside(at).includes(wanted))
  );
}

/** How an element is named in an action. */
export function actAt({ place, at }: Found) {
  return { place, block: at.blockId, action: at.actionId };
}

function placeOf(surface: Surface): PagePlace {
  return 'hash' in surface ? { view: surface.id } : { channel: surface.channel, ts: surface.ts };
}

function findIn(surfaces: readonly Surface[], isWanted: (at: PlacedElement) => boolean): Found | undefined {
  for (const surface of surfaces) {
    const at = listElements(surface.blocks).findLast(isWanted);
    if (at) return { at, place: placeOf(surface), surface };
  }
  return undefined;
}

function namesOf({ block, element }: PlacedElement): readonly string[] {
  return [textIn(block.label, 'text'), textIn(element.placeholder, 'text'), textBeside({ block })].filter(
    (name) => name !== '',
  );
}

function textBeside({ block }: Pick<PlacedElement, 'block'>): string {
  return decodeEntities(textIn(block.text, 'text'));
}

/** The words of the confirmation dialog that a button would show. */
export function confirmationAt(found: Found | undefined): string | undefined {
  const dialog = objectIn(found?.at.element, 'confirm');
  return (
    dialog && ['title', 'text', 'deny', 'confirm'].map((part) => textIn(dialog[part], 'text')).join('\n')
  );
}

/** The addresses of all links and link buttons. */
export function linksIn(surfaces: readonly Surface[]): readonly string[] {
  const written = JSON.stringify(surfaces.map((each) => [each.blocks, 'text' in each && each.text]));
  return [...new Set(written.match(/https?:\/\/[^\s"\\|<>]+/g) ?? [])].map(decodeEntities);
}

/** A thread shows its first message and the replies; the channel shows what is no reply. */
export function isOnScreen({ ts, threadTs }: StoredMessage, openThread: string | undefined): boolean {
  if (openThread !== undefined) return ts === openThread || threadTs === openThread;
  return threadTs === undefined || threadTs === ts;
}
