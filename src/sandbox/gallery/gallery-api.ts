/**
 * The contract between the gallery and its page: `GET /gallery.json` -> GalleryState. Types only.
 * The page itself is `/gallery`, the same files as the sandbox's page.
 */
import type { Json, PageMessage, PageState, PageView } from '../slack/page-api.ts';

export interface GalleryState {
  /** A workspace without messages, so that mentions have names. */
  readonly workspace: PageState;
  /** By group, in the order in which they are shown. */
  readonly pieces: readonly GalleryPiece[];
}

/** A message or modal of the app, as a user would see it, or what similar ones say. */
export type GalleryPiece = {
  /** Its anchor: `/gallery#refusals-and-errors-error-role-needed-in-a-modal`. */
  readonly id: string;
  readonly group: string;
  readonly name: string;
} & (
  | { readonly kind: 'message'; readonly payload: PageMessage }
  | { readonly kind: 'modal'; readonly payload: PageView }
  | { readonly kind: 'home'; readonly payload: PageView }
  | { readonly kind: 'sentences'; readonly rows: readonly SentenceRow[] }
);

/** What one message or modal says that those before it don't. */
export interface SentenceRow {
  readonly name: string;
  readonly blocks: readonly Json[];
  /** The text of notifications, where it says something else. */
  readonly notification?: string;
}
