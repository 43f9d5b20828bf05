/**
 * The contract between the gallery and its page: `GET /gallery.json` -> GalleryState. Types only.
 * The page itself is `/gallery`, of the same bundle as the sandbox's page.
 */
import type { PageGroup, PageMessage, PageUser, PageView } from '../slack/page-api.ts';

export interface GalleryState {
  /** The users that messages mention. */
  readonly people: readonly PageUser[];
  readonly groups: readonly PageGroup[];
  /** By group, in the order in which they are shown. */
  readonly pieces: readonly GalleryPiece[];
}

/** A message or modal of the app, as a user would see it. */
export type GalleryPiece = {
  /** Its anchor: `/gallery#errors-role-needed`. */
  readonly id: string;
  readonly group: string;
  readonly name: string;
  /** How many blocks it has; a message holds 50, a view 100. */
  readonly blocks: number;
} & (
  | { readonly kind: 'message'; readonly payload: PageMessage }
  | { readonly kind: 'modal'; readonly payload: PageView }
);
